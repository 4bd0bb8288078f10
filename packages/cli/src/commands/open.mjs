import { spawn } from 'node:child_process';
import { clientOf, requireKeys, withCredentials } from '../credentials.mjs';
import { printJson, withJson } from '../json-output.mjs';
import { dim, printLine } from '../terminal.mjs';

export function withOpen(program) {
  const command = program
    .command('open')
    .summary('open the portal of the merchant')
    .description('Print a link to the portal of the merchant, and open it where there is a browser.')
    .option('--scopes <a,b>', 'what the session may do, such as payouts:read,endpoints:write')
    .option('--no-browser', 'only print the link')
    .action(openPortal);
  withCredentials(withJson(command, 'print the session and its url as a line of JSON; opens nothing'));
}

async function openPortal(options) {
  const merchant = clientOf(await requireKeys(options));
  const scopes = options.scopes?.split(',').map((each) => each.trim());
  const { data } = await merchant.portalSessions.create(scopes ? { scopes } : {});
  if (options.json) return printJson(data);
  printLine(data.url);
  const browser = options.browser ? browserOf() : null;
  if (browser === null) return printLine(dim('It works once, within 15 minutes.'));
  const [program, ...args] = browser;
  const child = spawn(program, [...args, data.url], { stdio: 'ignore', detached: true });
  child.on('error', () =>
    printLine(dim('No browser could be opened. The link works once, within 15 minutes.')),
  );
  child.unref();
}

/** The program that opens a link; null without a screen, or where the output is for a program. */
function browserOf({ env, platform, stdout } = process) {
  if (!stdout.isTTY) return null;
  if (env.BROWSER) return [env.BROWSER];
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open'] : null;
}
