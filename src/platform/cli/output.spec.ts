import { describe, expect, it } from '@jest/globals';
import { invoke } from '../../../test/support/programs/cli.js';
import { testDatabase } from '../../../test/support/postgres.js';
import { inOneLine, printable } from './output.js';

const HOSTILE = 'a\u001b[2K\u001b]0;x\u0007\r\u009b1A\u202eb\u2066\u2028';

describe('the output of operator programs', () => {
  it('has its terminal control characters escaped, and its JSON still parses to the same value', () => {
    expect(printable(HOSTILE)).toBe('a\\u001b[2K\\u001b]0;x\\u0007\\u000d\\u009b1A\\u202eb\\u2066\\u2028');
    expect(printable('é 漢 👩‍🚀\n\tб')).toBe('é 漢 👩‍🚀\n\tб');
    expect(inOneLine('a\nin order')).toBe('a\\u000ain order');
    const json = { text: HOSTILE, lines: ['a\nb'] };
    expect(JSON.parse(printable(JSON.stringify(json, null, 2)))).toEqual(json);
  });

  it('is escaped in every program', async () => {
    const db = await testDatabase();
    const env = { DATABASE_URL: db.url, MASTER_KEY: '1'.repeat(64) };
    const type = 'user.renamed.v1\u001b[1A';
    await db.database.query("insert into event_store.passing_types values ($1, 'a newer version', now())", [
      type,
    ]);
    const { printed } = await invoke('subscriptions', env, 'hold', type);
    await db.drop();
    expect(printed).toContain('wait at user.renamed.v1\\u001b[1A');
    expect(printed).not.toContain('\u001b');
  });
});
