import { clientOf, requireKeys, withCredentials } from '../credentials.mjs';
import { printJson, withJson } from '../json-output.mjs';
import { Portal } from '../portal.mjs';
import { deleteSession, readSession, sessionFile, writeSession } from '../session-file.mjs';
import { dim, green, printLine } from '../terminal.mjs';

export function withLogin(program) {
  const login = program
    .command('login')
    .summary('keep a session, so that later commands need no key')
    .description(
      `Create a session of the portal with the merchant's keys and keep it, so that payouts, events and logs work without the keys.\n\nIt is in ${sessionFile()}, readable by you alone, and ends after an hour without a request, or after eight.`,
    )
    .action(logIn);
  withCredentials(
    withJson(login, 'print the merchant, the file and the end of the session as a line of JSON'),
  );
  withJson(
    program
      .command('logout')
      .summary('end the session of login')
      .description('End the session of disburse login and delete its file.')
      .action(logOut),
    'print whether there was a session as a line of JSON',
  );
}

async function logIn(options) {
  const merchant = clientOf(await requireKeys(options));
  const { data } = await merchant.portalSessions.create();
  const portal = await Portal.enter(data.url);
  const { data: me } = await portal.get('me');
  const { portalUrl, cookie } = portal;
  const session = { portalUrl, cookie, merchant: me.merchant, expiresAt: me.session_expires_at };
  const file = writeSession(session);
  if (options.json) return printJson({ merchant: me.merchant, file, expires_at: session.expiresAt });
  printLine(`${green('✓')} Logged in as ${me.merchant.name} (${me.merchant.id}) until ${session.expiresAt}`);
  printLine(dim(`  The session is in ${file}, readable by you alone. disburse logout ends it.`));
}

async function logOut({ json }) {
  const session = readSession();
  if (session !== null) {
    await new Portal(session).end();
    deleteSession();
  }
  if (json) return printJson({ ended: session !== null });
  printLine(session === null ? dim('There is no session.') : `${green('✓')} The session has ended.`);
}
