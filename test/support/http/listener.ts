import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestApp } from '../app.js';
import { specFolder } from '../run-folder.js';
import { eventually } from '../eventually.js';
import { TestProcess } from '../programs/test-process.js';
import { pageUrl } from '../onboarding/people.js';

const SCRIPT = fileURLToPath(new URL('../../../scripts/webhooks-listen.mjs', import.meta.url));

/** One line of `--json`. */
interface PrintedDelivery {
  readonly id: string;
  readonly type: string;
  readonly attempt: number;
  readonly verified: boolean;
  readonly reason: string | null;
  readonly status: number;
  readonly body: { readonly data: Record<string, unknown> };
}

/** Creates the folder of a sandbox with this app, its first merchant, and the signing exchange key. */
export function sandboxFolderOf(app: TestApp): string {
  const folder = specFolder('sandbox');
  const { apiKey, privateKey } = app.merchant.credentials;
  const { credentials: signing } = app.exchange.signing;
  const sandbox = {
    base_url: app.url,
    widget_url: pageUrl(app.app),
    merchant: { api_key: apiKey, private_key: privateKey },
    exchange: { api_key: signing.apiKey, secret: signing.secret },
  };
  writeFileSync(join(folder, 'sandbox.json'), JSON.stringify(sandbox));
  writeFileSync(join(folder, 'service.pid'), JSON.stringify({ pid: process.pid }));
  return folder;
}

/** `npm run webhooks:listen` as a separate process, or another program that listens in the same way. */
export class Listener extends TestProcess {
  constructor(dataDir: string, args: readonly string[], program: readonly string[] = [SCRIPT]) {
    const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], DATA_DIR: dataDir };
    super(process.execPath, [...program, ...args], { env });
  }

  /** Resolves to the URL once it listens. */
  ready(): Promise<string> {
    return eventually(() => {
      if (this.child.exitCode !== null) throw new Error(this.text);
      if (!this.text.includes('Waiting for deliveries')) return null;
      return /http:\/\/127\.0\.0\.1:\d+\/(?=,? ?.*$)/m.exec(this.text.split('Receiver')[1]!)![0];
    });
  }

  printed(count: number): Promise<PrintedDelivery[]> {
    return eventually(() => {
      const lines = this.output.split('\n').slice(0, -1);
      return lines.length < count ? null : lines.map((line) => JSON.parse(line) as PrintedDelivery);
    });
  }

  says(text: string): Promise<true> {
    return eventually(() => (this.text.includes(text) ? true : null));
  }
}
