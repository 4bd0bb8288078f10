import { Injectable } from '@nestjs/common';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import {
  endpointJson,
  webhookEndpoints,
  type Endpoint,
  type EndpointJson,
} from '../domain/webhook-endpoints.js';
import { FailingEndpoints } from '../store/failing-endpoints.js';

/** Which endpoints does a merchant have? Read from the merchant's one stream of them: ten at most, and nothing to wait for. */
@Injectable()
export class EndpointsView {
  constructor(
    private readonly loop: CommandLoop,
    private readonly failing: FailingEndpoints,
  ) {}

  /** The merchant's endpoints, oldest first. */
  async list(merchantId: string): Promise<EndpointJson[]> {
    const { byId } = await this.loop.loadForDisplay(webhookEndpoints, merchantId);
    return this.withFailures([...byId.values()].toSorted((a, b) => (cursorOf(a) < cursorOf(b) ? -1 : 1)));
  }

  async find(merchantId: string, id: string): Promise<EndpointJson | null> {
    const endpoint = (await this.loop.loadForDisplay(webhookEndpoints, merchantId)).byId.get(id);
    return endpoint ? (await this.withFailures([endpoint]))[0]! : null;
  }

  async owns(merchantId: string, id: string): Promise<boolean> {
    return (await this.loop.loadForDisplay(webhookEndpoints, merchantId)).byId.has(id);
  }

  private async withFailures(endpoints: readonly Endpoint[]): Promise<EndpointJson[]> {
    const failures = await this.failing.counts(endpoints.map(({ id }) => id));
    return endpoints.map((endpoint) => endpointJson(endpoint, failures.get(endpoint.id) ?? 0));
  }
}

function cursorOf({ createdAt, id }: Endpoint): string {
  return `${createdAt} ${id}`;
}
