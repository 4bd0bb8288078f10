import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { onTestApp } from '../../support/app.js';
import { bash, commandsOf, statementsOf } from '../../support/programs/guide.js';
import { sandboxFolderOf } from '../../support/http/listener.js';
import { specFolder } from '../../support/run-folder.js';
import { systemProgram } from '../../support/programs/system-program.js';

const missing = ['bash', 'curl', 'openssl'].filter((each) => systemProgram(each) === null);

describe('docs/inbound-events.md', () => {
  const app = onTestApp();

  (missing.length > 0 ? it.skip : it)(
    'has commands that do what it says, one after the other, pasted into a shell',
    async () => {
      const folder = specFolder('guide');
      renameSync(sandboxFolderOf(app), join(folder, '.sandbox'));
      const script = commandsOf('inbound-events.md')
        // People wait a second; a loaded machine may need more, and an idle one less.
        .replace('sleep 1;', 'until api GET "/users/$user/events" | grep -q checkout; do sleep 0.1; done;');
      const { said, errors, code } = await bash(script, folder);
      expect([code, errors]).toEqual([0, '']);
      expect(said.match(/^\d{3}$/gm)).toEqual(['202', '400', '202', '202', '202', '200', '200']);
      expect(said).toContain('events[0].event_name is required');
      const [journey, filtered] = [...said.matchAll(/^\{"events".*$/gm)].map(
        ([text]) => JSON.parse(text) as { events: { event_name: string; payload: object }[] },
      );
      expect(journey!.events.map(({ event_name }) => event_name)).toEqual(['checkout', 'cart opened']);
      expect(said).toContain('{"items": 2, "total": 19.90}');
      expect(filtered!.events).toHaveLength(1);
    },
  );

  it('has queries that run', async () => {
    for (const statement of statementsOf('inbound-events.md'))
      await app.database.query(statement.replaceAll("'...'", "'018f4a6e-7c1b-4a2b-8b0e-1f2a3b4c5d6e'"));
  });
});
