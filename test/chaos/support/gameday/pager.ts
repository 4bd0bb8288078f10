import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { LocalServer } from '../../../support/http/local-server.js';

interface Notification {
  readonly alerts: readonly {
    readonly status: 'firing' | 'resolved';
    readonly fingerprint: string;
    readonly labels: Readonly<Record<string, string>>;
  }[];
}

/** The webhook of Alertmanager for the person on call. */
export class Pager extends LocalServer {
  /** The firing alerts by fingerprint. */
  private readonly firing = new Map<string, Readonly<Record<string, string>>>();

  static async start(): Promise<Pager> {
    const pager = new Pager();
    await pager.restart();
    return pager;
  }

  /** The distinct names of the firing alerts. */
  get alerts(): readonly string[] {
    return [...new Set([...this.firing.values()].map(({ alertname }) => alertname!))].sort();
  }

  /** The labels of the firing alerts. */
  get details(): readonly Readonly<Record<string, string>>[] {
    return [...this.firing.values()];
  }

  protected override async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { alerts } = (await json(request)) as Notification;
    for (const { status, fingerprint, labels } of alerts) {
      if (status === 'firing') this.firing.set(fingerprint, labels);
      else this.firing.delete(fingerprint);
    }
    response.writeHead(200).end();
  }
}
