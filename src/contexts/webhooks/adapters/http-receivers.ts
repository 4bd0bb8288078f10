import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { parseCidrs } from '../../../platform/config/cidrs.js';
import { GuardedHosts, RESOLVES_TO } from '../../../platform/outbound/guarded-hosts.js';
import { OutboundClient } from '../../../platform/outbound/outbound-client.js';
import type { ReceiverResult, Receivers, ReceiverUrls } from '../application/ports.js';
import { webhooksConfig, type WebhooksConfig } from '../settings.js';

const BODY_BYTES = 65_536;
const EXCERPT_BYTES = 1024;

/** Which receivers may be reached: one verdict for registration, PATCH and every connect. */
@Injectable()
export class ReceiverHosts extends GuardedHosts implements ReceiverUrls {
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

@Injectable()
export class HttpReceivers implements Receivers, OnApplicationShutdown {
  private readonly client: OutboundClient;

  constructor(@Inject(webhooksConfig.KEY) config: WebhooksConfig, hosts: ReceiverHosts) {
    const limits = { bodyBytes: BODY_BYTES, keptBytes: EXCERPT_BYTES, acceptsBroken: true };
    this.client = new OutboundClient(hosts, { timeoutMs: config.webhookTimeoutMs, ...limits });
  }

  async post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<ReceiverResult> {
    const result = await this.client.post(url, headers, body);
    if (result.kind === 'response') {
      const { status, retryAfter, body: excerpt, error } = result;
      return { response: { kind: 'responded', status, retryAfter }, error, excerpt };
    }
    // Merchants see the phase as `error_class`.
    return { response: { kind: 'failed', phase: result.phase }, error: result.error, excerpt: null };
  }

  onApplicationShutdown(): Promise<void> {
    return this.client.close();
  }
}
