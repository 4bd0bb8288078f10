import type pg from 'pg';
import type { Credentials } from '../../../../bench/support/sign.js';
import { Line } from '../line.js';
import { keyed } from '../payouts.js';
import type { Confirmed } from '../report-load.js';
import type { Verdict } from '../verdict.js';

/** Returns the requests whose users and payouts are not in the log. */
export async function missingFrom(
  pool: pg.Pool,
  confirmed: readonly Confirmed[],
): Promise<readonly Confirmed[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select substring(stream from '-(.*)') as id from event_store.events
     where revision = 0 and stream ~ '^(payout|user)-'`,
  );
  const known = new Set(rows.map(({ id }) => id));
  return confirmed.filter(({ id }) => !known.has(id));
}

/**
 * Repeats each request under its key. A surviving one is replayed byte for byte; a lost one is executed
 * again, with the same id and facts. Returns the responses by key.
 */
export async function repeatAll(
  target: { readonly merchant: Credentials; readonly port: number },
  confirmed: readonly Confirmed[],
  gone: ReadonlySet<Confirmed>,
  verdict: Verdict,
): Promise<ReadonlyMap<string, string>> {
  const responses = new Map<string, string>();
  const line = new Line(target.port, verdict);
  for (const each of confirmed) {
    const { status, headers, body } = await line.send(
      keyed(target.merchant, each.path, each.request, each.key),
    );
    responses.set(each.key, body);
    const isReplayed = headers['idempotent-replayed'] === 'true';
    const isRight = gone.has(each)
      ? !isReplayed && withoutTime(body) === withoutTime(each.response)
      : isReplayed && body === each.response;
    const what = gone.has(each) ? 'that is gone creates the same again' : 'that survived is replayed';
    verdict.expect(status === 201 && isRight, `a confirmed request ${what}`, { each, status, body });
  }
  line.close();
  return responses;
}

const withoutTime = (response: string): string => response.replace(/"created_at":"[^"]*"/, '');
