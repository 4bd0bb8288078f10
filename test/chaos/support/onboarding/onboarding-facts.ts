import type { HDNodeWallet } from 'ethers';
import type pg from 'pg';
import type { Onfido } from '../../../support/onboarding/onfido/onfido.js';
import type { StripeServer } from '../../../support/onboarding/stripe/stripe.js';
import type { Verdict } from '../verdict.js';
import type { Receivers } from '../webhooks/receivers.js';

export const COMPLETED = 'user.onboarding_completed';

const WHOLE_HISTORY = [
  ...['started', 'phone_verified', 'consent_given', 'details_confirmed', 'kyc_submitted', 'kyc_passed'],
  ...['wallet_provisioned', 'card_issued', 'completed'],
].map((each) => `onboarding.${each}.v1`);

interface Stored {
  readonly user_id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

interface Parts {
  readonly pool: pg.Pool;
  readonly onfido: Onfido;
  readonly stripe: StripeServer;
  readonly account: HDNodeWallet;
  readonly receiver: Receivers;
}

/** Returns whether all submitters have completed, no step is due, and the receiver was notified of each. */
export async function allCompleted(pool: pg.Pool, handedIn: readonly string[], receiver: Receivers) {
  const { rows } = await pool.query<{ completed: number; waiting: number }>(
    `select (select count(*)::int from event_store.events where type = 'onboarding.completed.v1') as completed,
       (select count(*)::int from work.items where kind = 'onboarding.step') as waiting`,
  );
  const { completed, waiting } = rows[0]!;
  return (
    completed >= handedIn.length &&
    waiting === 0 &&
    new Set(receiver.subjects(COMPLETED, 'user_id')).size >= handedIn.length
  );
}

/** Each person has one history, check at Onfido, wallet that the private key finds, card and completion. */
export async function checkOnboardings(
  { pool, onfido, stripe, account, receiver }: Parts,
  handedIn: readonly string[],
  verdict: Verdict,
  say: (line: string) => void,
): Promise<void> {
  const { rows } = await pool.query<Stored>(
    `select substr(stream, 12) as user_id, type, data::json as data from event_store.events
     where stream like 'onboarding-%' order by position`,
  );
  const histories = new Map<string, Stored[]>();
  for (const row of rows) histories.set(row.user_id, [...(histories.get(row.user_id) ?? []), row]);
  const wallets = new Set<string>();
  const indexes = new Set<number>();
  const completions = receiver.subjects(COMPLETED, 'user_id');
  for (const userId of handedIn) {
    const history = histories.get(userId) ?? [];
    verdict.equal(history.map(({ type }) => type).join(), WHOLE_HISTORY.join(), `the history of ${userId}`);
    const wallet = history.find(({ type }) => type === 'onboarding.wallet_provisioned.v1')?.data ?? {};
    const { path, index } = (wallet['derivation'] ?? {}) as { path?: string; index?: number };
    verdict.equal(
      path === undefined ? null : account.derivePath(path).address,
      wallet['issuer_wallet_address'],
      `the private key finds the wallet of ${userId}`,
    );
    wallets.add(String(wallet['issuer_wallet_address']));
    if (index !== undefined) indexes.add(index);
    const card = history.find(({ type }) => type === 'onboarding.card_issued.v1')?.data['card_id'];
    const live = stripe.cardsOf(userId).filter(({ status }) => status !== 'canceled');
    verdict.equal(live.map(({ id }) => id).join(), card, `the one card of ${userId} at the issuer`);
    const completed = completions.filter((each) => each === userId).length;
    verdict.equal(completed, 1, `completions of ${userId} that were delivered`);
  }
  verdict.equal(wallets.size, handedIn.length, 'wallets are of one user each');
  verdict.equal(Math.max(-1, ...indexes) + 1, handedIn.length, 'indexes of wallets have no gaps');
  verdict.none('a delivery did not verify', receiver.faults);
  const { rows: active } = await pool.query<{ users: number; activations: number; wallets: number }>(
    `select count(distinct stream)::int as users, count(*)::int as activations,
       (select count(*)::int from users.users where wallet is not null) as wallets
     from event_store.events where type = 'user.activated.v1' and substr(stream, 6) = any($1)`,
    [handedIn],
  );
  verdict.equal(active[0]?.users, handedIn.length, 'users who are active');
  verdict.equal(active[0]?.activations, handedIn.length, 'activations, one of each');
  verdict.equal(active[0]?.wallets, handedIn.length, 'wallets in the read model');
  await checkIdentities(pool, onfido, handedIn, verdict, say);
  const canceled = stripe.cards.filter(({ status }) => status === 'canceled').length;
  say(
    `people ${handedIn.length}; cards ${stripe.cards.length}, ${canceled} of them canceled; cardholders ${stripe.cardholders.length}`,
  );
}

/** Each person has one check. No image is left here, and a lost applicant has no personal data. */
async function checkIdentities(
  pool: pg.Pool,
  { records }: Onfido,
  handedIn: readonly string[],
  verdict: Verdict,
  say: (line: string) => void,
): Promise<void> {
  const { rows } = await pool.query<{ applicant: string; check_reference: string; user_id: string }>(
    'select user_id, applicant, check_reference from onboarding.verifications where user_id = any($1)',
    [handedIn],
  );
  const known = new Map(rows.map((row) => [row.applicant, row]));
  verdict.equal(known.size, handedIn.length, 'applicants, one of each');
  let lost = 0;
  for (const { id, fields, checks, documents, livePhotos } of records.applicants.values()) {
    const row = known.get(id);
    if (row === undefined) {
      lost += 1;
      const pictures = documents.length + livePhotos.length;
      verdict.expect(
        fields['first_name'] === 'Applicant' && pictures === 0,
        'a lost applicant holds no personal data',
        fields,
      );
    } else
      verdict.equal(
        checks.map(({ id: check }) => check).join(),
        row.check_reference,
        `the one check of ${row.user_id}`,
      );
  }
  const { rows: left } = await pool.query('select user_id, kind from onboarding.images');
  verdict.none('an image is left', left);
  say(
    `applicants ${records.applicants.size}, ${lost} of them lost half-way; checks ${records.checks.length}`,
  );
}
