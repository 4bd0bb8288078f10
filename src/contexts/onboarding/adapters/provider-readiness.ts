import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { HealthRegistry } from '../../../platform/telemetry/health.js';
import { providers } from '../metrics.js';
import { chosenOf, PORTS, type Port } from './providers.js';

/** Tells at the boot, in the metrics and in readiness where the onboarding has no provider. */
@Injectable()
export class ProviderReadiness implements OnModuleInit {
  private readonly logger = new Logger(ProviderReadiness.name);

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(HealthRegistry) private readonly health: HealthRegistry,
  ) {}

  onModuleInit(): void {
    const chosen = Object.entries(chosenOf(this.config)) as [Port, string][];
    for (const [port, provider] of chosen) providers.set({ port, provider }, 1);
    const missing = chosen
      .filter(([, provider]) => provider === 'none')
      .map(([port]) => `${PORTS[port].what} (${PORTS[port].setting})`);
    const sentence =
      missing.length === 0 ? undefined : `no provider for ${missing.join(', ')}: onboardings wait`;
    // An operator's program has no role, and not the settings of those that have one.
    if (sentence !== undefined && this.config.roles.length > 0) this.logger.warn(`onboarding: ${sentence}`);
    // Whoever is being onboarded waits, and nothing is lost: no reason to take the requests of merchants elsewhere.
    this.health.register({ name: 'onboarding', check: () => Promise.resolve(sentence) });
  }
}
