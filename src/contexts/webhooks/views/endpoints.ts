import { Inject, Injectable } from '@nestjs/common';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { webhookEndpoints, type Endpoint } from '../domain/webhook-endpoints.js';
import { FailingEndpoints } from '../store/failing-endpoints.js';
import { endpointJson, type WebhookEndpoint } from './endpoint-json.js';

/** Which endpoints does a merchant have? Read from the merchant's one stream of them: ten at most, and nothing to wait for. */
@Injectable()
export class EndpointsView {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: Pick<CommandLoop, 'show'>,
    private readonly failing: FailingEndpoints,
  ) {}

  /** The merchant's endpoints, oldest first. */
  async list(merchantId: string): Promise<WebhookEndpoint[]> {
    const { byId } = await this.loop.show(webhookEndpoints, merchantId);
    return this.shown([...byId.values()].toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1)));
  }

  /** One endpoint of the merchant; null when there is none. */
  async find(merchantId: string, id: string): Promise<WebhookEndpoint | null> {
    const endpoint = (await this.loop.show(webhookEndpoints, merchantId)).byId.get(id);
    return endpoint ? (await this.shown([endpoint]))[0]! : null;
  }

  /** Whether the merchant has this endpoint, and has not deleted it. */
  async owns(merchantId: string, id: string): Promise<boolean> {
    return (await this.loop.show(webhookEndpoints, merchantId)).byId.has(id);
  }

  private async shown(endpoints: readonly Endpoint[]): Promise<WebhookEndpoint[]> {
    const failures = await this.failing.counts(endpoints.map(({ id }) => id));
    return endpoints.map((endpoint) => endpointJson(endpoint, failures.get(endpoint.id) ?? 0));
  }
}

function placeOf({ createdAt, id }: Endpoint): string {
  return `${createdAt} ${id}`;
}
