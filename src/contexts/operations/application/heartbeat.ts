import { randomUUID } from 'node:crypto';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Periodic } from '../../../platform/jobs/background-work.js';
import { processConfig, type ProcessConfig } from '../../../platform/config/config.js';
import { ClockCheck } from '../../../platform/postgres/clock-check.js';
import { ProcessFacts } from '../../../platform/telemetry/process-facts.js';
import { VERSION } from '../../../platform/version.js';
import { Processes } from '../store/processes.js';

const EVERY_MS = 3000;

/** Reports this process to all others, every three seconds. */
@Injectable()
export class Heartbeat implements OnApplicationShutdown {
  private readonly id = randomUUID();
  private readonly startedAt = new Date();

  constructor(
    private readonly processes: Processes,
    private readonly clock: ClockCheck,
    private readonly facts: ProcessFacts,
    @Inject(processConfig.KEY) private readonly config: ProcessConfig,
  ) {}

  /** A process that ends in order is not displayed for another minute. */
  async onApplicationShutdown(): Promise<void> {
    if (this.config.roles.length > 0) await this.processes.drop(this.id).catch(() => undefined);
  }

  @Periodic({ name: 'operations.heartbeat', everyMs: EVERY_MS, role: 'any' })
  async beat(): Promise<void> {
    const [skew, facts] = await Promise.all([this.clock.skewSeconds(), this.facts.read()]);
    const { id, startedAt } = this;
    const { roles } = this.config;
    await this.processes.beat({ id, version: VERSION, roles, startedAt, clockSkewMs: skew * 1000, facts });
  }
}
