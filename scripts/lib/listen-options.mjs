// What npm run webhooks:listen understands.
import { parseArgs } from 'node:util';
import { Problem } from './terminal.mjs';

export const HELP = `
  npm run webhooks:listen -- [options]

  Receives webhooks on this machine, verifies them and prints them as they come.
  It registers its own endpoint with the running sandbox (npm start) and
  deletes it again when it ends (Ctrl-C).

  Where
    --port <n>            listen on this port of 127.0.0.1; default: a free one
    --url <base url>      another service than the sandbox, with --api-key and
                          --private-key
    --api-key <uuid>      another merchant (or the variable SVC_API_KEY)
    --private-key <key>   its private key (or SVC_PRIVATE_KEY, which other
                          users of this machine do not see)
    --public-url <url>    register this URL, of a tunnel that leads here,
                          instead of http://127.0.0.1:<port>/
    --secret <whsec_...>  register nothing, only verify; may be given more than
                          once
    --remove <id>         delete this endpoint first, for when there are ten

  What
    --types <a,b>         only these event types
    --test                ask for a test delivery at the start
    --json                one line of JSON for each delivery on standard output,
                          all else on standard error; npm run -s keeps npm's
                          own lines out of it

  How it responds (204 to what is genuine, 400 to what is not)
    --status <n>          respond to what is genuine with this status instead
    --retry-after <text>  and with this Retry-After
    --delay <ms>          wait before responding: the service gives up after
                          30 seconds
    --forward <url>       pass each genuine delivery on to your own application,
                          and respond as it does
`;

/** The options of the command line. Throws a Problem for what it does not understand. */
export function readOptions() {
  const text = { type: 'string' };
  const flag = { type: 'boolean', default: false };
  const options = {
    ...{ help: { ...flag, short: 'h' }, json: flag, test: flag },
    ...{ port: text, url: text, 'api-key': text, 'private-key': text, 'public-url': text, remove: text },
    ...{ types: text, status: text, 'retry-after': text, delay: text, forward: text },
    secret: { type: 'string', multiple: true, default: [] },
  };
  let values;
  try {
    ({ values } = parseArgs({ options, strict: true }));
  } catch (error) {
    throw new Problem(`${error.message.split('. ')[0]}. See npm run webhooks:listen -- --help`);
  }
  const apiKey = values['api-key'] ?? process.env.SVC_API_KEY ?? null;
  const privateKey = values['private-key'] ?? process.env.SVC_PRIVATE_KEY ?? null;
  if ((apiKey === null) !== (privateKey === null))
    throw new Problem('--api-key and --private-key belong together.');
  if (values.url !== undefined && apiKey === null)
    throw new Problem('--url wants --api-key and --private-key of a merchant there.');
  refuseContradictions(values);
  return {
    ...{ help: values.help, json: values.json, test: values.test, apiKey, privateKey },
    secrets: values.secret,
    remove: values.remove ?? null,
    url: address(values, 'url'),
    publicUrl: address(values, 'public-url')?.href ?? null,
    forward: address(values, 'forward'),
    retryAfter: headerText(values, 'retry-after'),
    types: values.types === undefined ? null : values.types.split(',').map((each) => each.trim()),
    port: number(values, 'port', 0, 65_535) ?? 0,
    status: number(values, 'status', 200, 599),
    delay: number(values, 'delay', 0, 3_600_000) ?? 0,
  };
}

/** Of two options that exclude each other one would be ignored without notice. */
function refuseContradictions({ forward, status, 'retry-after': retryAfter, secret, test }) {
  if (forward !== undefined && (status !== undefined || retryAfter !== undefined))
    throw new Problem('--forward responds as your application does: leave out --status and --retry-after.');
  if (retryAfter !== undefined && status === undefined)
    throw new Problem('--retry-after goes with --status 429 or --status 503.');
  if (secret.length > 0 && test)
    throw new Problem('--test wants an endpoint, and --secret registers none: leave one of them out.');
}

function number(values, name, least, most) {
  const value = values[name];
  if (value === undefined) return null;
  if (!/^\d+$/.test(value) || Number(value) < least || Number(value) > most)
    throw new Problem(`--${name} must be a whole number from ${least} to ${most}.`);
  return Number(value);
}

function headerText(values, name) {
  const value = values[name];
  if (value !== undefined && !/^[\x20-\x7e]+$/.test(value))
    throw new Problem(`--${name} must be a line of ASCII: seconds, or an HTTP-date.`);
  return value ?? null;
}

function address(values, name) {
  const value = values[name];
  if (value === undefined) return null;
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol))
    throw new Problem(`--${name} must be a URL that begins with http:// or https://.`);
  return new URL(value);
}
