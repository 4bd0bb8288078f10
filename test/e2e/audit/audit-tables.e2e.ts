import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../../support/app.js';
import { invoke, type Run } from '../../support/programs/operator.js';
import { createPayee, reported, settledPayout } from '../../support/payouts/payout-calls.js';

interface Report extends Run {
  readonly differences: readonly string[];
  readonly not_checked: readonly string[];
}

describe('npm run audit -- verify, of tables that steer money and persons', () => {
  let app: TestApp;
  let payee: string;
  let other: string;

  beforeAll(async () => {
    app = await startTestApp();
    const user = await createPayee(app.merchant);
    [payee, other] = [user.id, (await createPayee(app.merchant)).id];
    const { hash } = await app.chain.transfer(user.wallet, '2');
    const { id } = await reported(app.merchant, payee, { amount: '2', transaction_hash: hash });
    await settledPayout(app.merchant, id);
  });
  afterAll(() => app.close());

  const verify = async (env: NodeJS.ProcessEnv = { MASTER_KEY: app.config.masterKey! }): Promise<Report> => {
    const run = await invoke('audit', { DATABASE_URL: app.config.databaseUrl!, ...env }, '--json', 'verify');
    return { ...(JSON.parse(run.printed) as Report), ...run };
  };

  it('finds them as the events and the migrations say', async () => {
    expect((await verify()).differences).toEqual([]);
    const { not_checked } = await verify({});
    expect(not_checked.join()).toContain('whether each personal key is the one of its person');
  });

  it('names the cause of a check that fails, and completes the others', async () => {
    await app.database.query('alter table payouts.receipts rename column receipt to renamed');
    const { not_checked, differences } = await verify();
    await app.database.query('alter table payouts.receipts rename column renamed to receipt');
    expect(not_checked.filter((each) => each.includes('cannot be rebuilt'))).toEqual([
      expect.stringContaining('column "receipt" does not exist'),
    ]);
    expect(differences).toEqual([]);
  });

  it.each<[string, () => [change: string, undo: string], () => string]>([
    [
      "a stranger's wallet in place of the user's",
      () => [
        `create table public.kept as table payouts.wallets;
         update payouts.wallets set address = 'stranger' where user_id = '${payee}'`,
        `update payouts.wallets w set address = k.address from public.kept k where k.user_id = w.user_id;
         drop table public.kept`,
      ],
      () => `payouts.wallets ${payee}: address is stranger, the events say 0x`,
    ],
    [
      'a used transfer that was deleted',
      () => [
        'create table public.kept as table payouts.used_transfers; truncate payouts.used_transfers',
        'insert into payouts.used_transfers table public.kept; drop table public.kept',
      ],
      () => 'payouts.used_transfers',
    ],
    [
      'a key that was deleted, which is an erasure in secret',
      () => [
        `create table public.kept as select * from platform.personal_keys where subject = '${payee}';
         delete from platform.personal_keys where subject = '${payee}'`,
        'insert into platform.personal_keys table public.kept; drop table public.kept',
      ],
      () => `platform.personal_keys ${payee}: no row, and the events say nothing of an erasure`,
    ],
    [
      'a key that was dropped',
      () => [
        `create table public.kept as select * from platform.personal_keys where subject = '${payee}';
         update platform.personal_keys set wrapped_key = null, forgotten_at = now() where subject = '${payee}'`,
        `update platform.personal_keys p set wrapped_key = k.wrapped_key, forgotten_at = null
         from public.kept k where k.subject = p.subject; drop table public.kept`,
      ],
      () => `platform.personal_keys ${payee}: the key was dropped, and the events say nothing of an erasure`,
    ],
    [
      "another person's key",
      () => [
        `create table public.kept as select * from platform.personal_keys where subject = '${payee}';
         update platform.personal_keys p set wrapped_key = o.wrapped_key from platform.personal_keys o
         where p.subject = '${payee}' and o.subject = '${other}'`,
        `update platform.personal_keys p set wrapped_key = k.wrapped_key
         from public.kept k where k.subject = p.subject; drop table public.kept`,
      ],
      () => `platform.personal_keys ${payee}: the key does not open`,
    ],
    [
      'a trigger on the events',
      () => [
        `create function public.quiet() returns trigger language plpgsql as 'begin return null; end';
         create trigger quiet before insert on event_store.events for each row when (new.type = 'none')
         execute function public.quiet()`,
        'drop trigger quiet on event_store.events; drop function public.quiet()',
      ],
      () => 'the database has a trigger quiet on event_store.events, which no migration creates',
    ],
    [
      'row security on due work',
      () => [
        'alter table work.items enable row level security',
        'alter table work.items disable row level security',
      ],
      () => 'the database has a row security on work.items, which no migration creates',
    ],
    [
      'row security on the events',
      () => [
        'alter table event_store.events enable row level security',
        'alter table event_store.events disable row level security',
      ],
      () => 'the database has a row security on event_store.events, which no migration creates',
    ],
    [
      'a rule on a read model',
      () => [
        'create rule quiet as on delete to payouts.payouts do instead nothing',
        'drop rule quiet on payouts.payouts',
      ],
      () => 'the database has a rule quiet on payouts.payouts, which no migration creates',
    ],
    [
      'a function with another body',
      () => {
        const replaced = (from: string, to: string): string => `do $do$ begin
          execute replace(pg_get_functiondef('event_store.commit_units'::regproc), '${from}', '${to}'); end $do$`;
        return [
          replaced('$function$\ndeclare', '$function$\n\ndeclare'),
          replaced('$function$\n\ndeclare', '$function$\ndeclare'),
        ];
      },
      () =>
        'the database has a function commit_units in event_store with another body than its migration gave it',
    ],
  ])('names %s, and exits with 2', async (_name, statements, difference) => {
    const [change, undo] = statements();
    await app.database.query(change);
    const { differences, exitCode } = await verify();
    await app.database.query(undo);
    expect(differences).toEqual([expect.stringContaining(difference())]);
    expect(exitCode).toBe(2);
  });

  it('is in order again afterwards', async () => {
    expect((await verify()).differences).toEqual([]);
  });
});
