import { open } from 'node:fs/promises';
import type { Command } from 'commander';
import { isUuid } from '../../../kernel/ids.js';
import { connected } from '../../../platform/cli/connected.js';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import { inOneLine } from '../../../platform/cli/printable.js';
import { ConfigError } from '../../../platform/config/settings.js';
import { unknownDeliveries } from '../views/unknown-deliveries.js';

/** Of the webhooks in one query. */
const PAGE = 1000;

/** As a receiver has it: of the body only what says what it is about. */
interface Received {
  readonly id: string;
  readonly type: string | null;
  readonly payoutId: string | null;
}

/** `npm run delivery -- unknown`: after a restore, what receivers got and the service no longer knows. Changes nothing. */
export function unknownProgram(program: Command, cli: CliContext): void {
  program
    .command('unknown <file>')
    .description(
      'of webhooks that a receiver got (a body or an id in each line), those that no delivery has, after a restore for example',
    )
    .action(async function (this: Command, path: string) {
      const asJson = this.optsWithGlobals<{ json?: boolean }>().json === true;
      await connected(cli, async (database) => {
        let [read, found] = [0, 0];
        for await (const page of pagesOf(path)) {
          const ids = await unknownDeliveries(
            database,
            page.map(({ id }) => id),
          );
          for (const { id, type, payoutId } of page.filter((each) => ids.has(each.id))) {
            found += 1;
            const json = { webhook_id: id, type, payout_id: payoutId };
            const about = payoutId === null ? '' : `  payout ${payoutId}`;
            cli.print(asJson ? JSON.stringify(json) : inOneLine(`${id}  ${type ?? ''}${about}`.trimEnd()));
          }
          read += page.length;
        }
        cli.print(
          asJson
            ? JSON.stringify({ read, unknown: found })
            : `${found} of ${read} webhooks are unknown to the service`,
        );
      });
    });
}

async function* pagesOf(path: string): AsyncGenerator<readonly Received[]> {
  const file = await open(path).catch((cause: Error) => {
    throw new ConfigError(`${path} cannot be read: ${cause.message}`, { cause });
  });
  try {
    let page: Received[] = [];
    let number = 0;
    for await (const line of file.readLines()) {
      number += 1;
      if (line.trim() === '') continue;
      const received = receivedOf(line.trim());
      if (received === null) throw new ConfigError(`${path}, line ${number}, is not a webhook.`);
      if (page.push(received) < PAGE) continue;
      yield page;
      page = [];
    }
    if (page.length > 0) yield page;
  } finally {
    await file.close();
  }
}

/** A line is an id, or JSON with one: the body of a webhook. */
function receivedOf(line: string): Received | null {
  if (isUuid(line)) return { id: line.toLowerCase(), type: null, payoutId: null };
  try {
    const body = JSON.parse(line) as { id?: unknown; type?: unknown; data?: { payout_id?: unknown } } | null;
    if (!isUuid(body?.id)) return null;
    const payoutId = body.data?.payout_id;
    return {
      id: body.id.toLowerCase(),
      type: typeof body.type === 'string' ? body.type : null,
      payoutId: isUuid(payoutId) ? payoutId : null,
    };
  } catch {
    return null;
  }
}
