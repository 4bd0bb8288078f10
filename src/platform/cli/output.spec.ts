import { describe, expect, it } from '@jest/globals';
import { invoke } from '../../../test/support/programs/cli.js';
import { testDatabase } from '../../../test/support/postgres.js';
import { newId } from '../../kernel/ids.js';
import { PostgresEventStore } from '../event-store/postgres/postgres-event-store.js';
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

  it('is escaped when npm run audit -- verify prints the type of an event', async () => {
    const db = await testDatabase();
    const store = new PostgresEventStore(db.pool);
    const event = { id: newId(), type: 'user.renamed.v1\u001b[1A', data: {}, metadata: {} };
    await store.commit({ appends: [{ stream: `user-${newId()}`, events: [event], expected: 'no_stream' }] });
    await store.close();
    const { printed } = await invoke('audit', { DATABASE_URL: db.url }, 'verify');
    await db.drop();
    expect(printed).toContain('user.renamed.v1\\u001b[1A');
    expect(printed).not.toContain('\u001b');
  });
});
