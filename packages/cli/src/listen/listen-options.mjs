// The options of `disburse listen`.
import { InvalidArgumentError } from 'commander';
import { Usage } from '../usage.mjs';

/** Adds the options of `listen` to the command. */
export function withListenOptions(command) {
  return command
    .optionsGroup('How it responds (204 to what is genuine, 400 to what is not):')
    .option('--forward <url>', 'pass each genuine delivery on, byte for byte, and respond as the URL does')
    .option('--status <n>', 'respond to what is genuine with this status instead')
    .option('--retry-after <text>', 'and with this Retry-After')
    .option('--delay <ms>', 'wait before responding; the service times out after 30 seconds')
    .optionsGroup('What:')
    .option('--types <a,b>', 'only these event types')
    .option('--test', 'request a test delivery at the start')
    .option('--json', 'a line of JSON for each delivery on standard output, all else on standard error')
    .optionsGroup('Receiver:')
    .option('--port <n>', 'listen on this port of 127.0.0.1; default: a free one')
    .option('--public-url <url>', 'register this URL, of a tunnel that leads here')
    .option('--secret <whsec_...>', 'register nothing, only verify; may be given more than once', collect)
    .option('--remove <id>', 'delete this endpoint first, for when there are ten');
}

function collect(secret, former = []) {
  if (!/^(whsec_)?[A-Za-z0-9+/]+={0,2}$/.test(secret))
    throw new InvalidArgumentError('--secret must be whsec_ and base64, as the registration returned it.');
  return [...former, secret];
}

/** The options as the listener needs them. Throws a Usage for what contradicts itself or is no value of its option. */
export function readOptions(values) {
  refuseContradictions(values);
  return {
    ...values,
    json: values.json === true,
    secrets: values.secret ?? [],
    remove: values.remove ?? null,
    publicUrl: address('public-url', values.publicUrl)?.href ?? null,
    forward: address('forward', values.forward),
    retryAfter: headerText(values.retryAfter),
    types: values.types === undefined ? null : values.types.split(',').map((each) => each.trim()),
    port: number(values, 'port', 0, 65_535) ?? 0,
    status: number(values, 'status', 200, 599),
    delay: number(values, 'delay', 0, 3_600_000) ?? 0,
  };
}

/** Refuses options that exclude each other, because one would be ignored without notice. */
function refuseContradictions({ forward, status, retryAfter, secret = [], test }) {
  if (forward !== undefined && (status !== undefined || retryAfter !== undefined))
    throw new Usage('--forward responds as your application does: leave out --status and --retry-after.');
  if (retryAfter !== undefined && status === undefined)
    throw new Usage('--retry-after goes with --status 429 or --status 503.');
  if (secret.length > 0 && test)
    throw new Usage('--test needs an endpoint, and --secret registers none: leave one of them out.');
}

function number(values, name, least, most) {
  const value = values[name];
  if (value === undefined) return null;
  if (!/^\d+$/.test(value) || Number(value) < least || Number(value) > most)
    throw new Usage(`--${name} must be a whole number from ${least} to ${most}.`);
  return Number(value);
}

function headerText(value) {
  if (value !== undefined && !/^[\x20-\x7e]+$/.test(value))
    throw new Usage('--retry-after must be a line of ASCII: seconds, or an HTTP-date.');
  return value ?? null;
}

function address(name, value) {
  if (value === undefined) return null;
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol))
    throw new Usage(`--${name} must be a URL that begins with http:// or https://.`);
  return new URL(value);
}
