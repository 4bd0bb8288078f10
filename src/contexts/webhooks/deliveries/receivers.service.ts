import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { parseCidrs } from '../../../platform/config/cidrs.js';
import { GuardedHosts, RESOLVES_TO } from '../../../platform/outbound/guarded-hosts.js';
import { OutboundClient } from '../../../platform/outbound/outbound-client.js';
import { webhooksConfig, type WebhooksConfig } from '../webhooks.config.js';

const BODY_BYTES = 65_536;
const EXCERPT_BYTES = 1024;

/** The address guard of receivers, used at registration, PATCH and every connect. */
@Injectable()
export class ReceiverHosts extends GuardedHosts {
  constructor(@Inject(webhooksConfig.KEY) { mode, webhookAllowCidrs }: WebhooksConfig) {
    super({ loopback: mode === 'sandbox', allowed: parseCidrs(webhookAllowCidrs) });
  }

  async check(url: string): Promise<void> {
    const refusal = await this.refusal(url);
    if (refusal === null) return;
    const error = DomainError.invalid({ url: [refusal] });
    throw refusal.includes(RESOLVES_TO) ? error.asTransient() : error;
  }
}

/** The client that POSTs deliveries, each within WEBHOOK_TIMEOUT_MS. */
@Injectable()
export class Receivers extends OutboundClient implements OnApplicationShutdown {
  constructor(
    @Inject(webhooksConfig.KEY) { webhookTimeoutMs: timeoutMs }: WebhooksConfig,
    hosts: ReceiverHosts,
  ) {
    super(hosts, { timeoutMs, bodyBytes: BODY_BYTES, keptBytes: EXCERPT_BYTES, acceptsBroken: true });
  }

  onApplicationShutdown(): Promise<void> {
    return this.close();
  }
}
