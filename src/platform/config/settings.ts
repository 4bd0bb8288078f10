import { registerAs } from '@nestjs/config';

/** Reads a setting from its text. The message of its Error completes the sentence "PORT must be ...". */
export type Parser<T> = (text: string) => T;

interface Rule<T> {
  readonly parse: Parser<T>;
  readonly fallback: T;
  readonly help: string;
  readonly inProduction?: T;
  /** True if documentation and errors must omit the value. */
  readonly secret?: boolean;
  /** True if production has no default. */
  readonly needed?: boolean;
}

export interface Setting<T> extends Rule<T> {
  /** The name in the environment: the key in capitals, WEBHOOK_TIMEOUT_MS for webhookTimeoutMs. */
  readonly name: string;
}

export type Settings = Readonly<Record<string, Setting<unknown>>>;
type Rules = Readonly<Record<string, Rule<unknown>>>;
type Values<R> = { readonly [K in keyof R]: R[K] extends Rule<infer T> ? T : never };

export function setting<T>(parse: Parser<T>, fallback: T, help: string, inProduction = fallback): Rule<T> {
  return { parse, fallback, help, inProduction };
}

export function optional<T>(
  parse: Parser<T>,
  help: string,
  ...marks: readonly ('secret' | 'needed')[]
): Rule<T | null> {
  return { parse, fallback: null, help, secret: marks.includes('secret'), needed: marks.includes('needed') };
}

/** The settings of a context, or of a part of the platform. `KEY` is their Nest injection token. */
export interface ConfigPart<C extends object = object> {
  /** Reads the settings. Throws a ConfigError that names the invalid setting. */
  (env?: NodeJS.ProcessEnv): C;
  readonly KEY: string | symbol;
  readonly namespace: string;
  readonly settings: Settings;
}

/** The settings of the process, which every ConfigPart includes. */
const PROCESS = {
  mode: setting(
    anyOf('sandbox', 'production'),
    'sandbox',
    'sandbox (everything from npm packages) or production; sandbox when not set, except where NODE_ENV is production: there it has to be set.',
  ),
  roles: setting(
    someOf('api', 'worker', 'widget', 'admin', 'portal'),
    ['api', 'worker', 'widget', 'admin', 'portal'],
    'what this process does.',
  ),
  dataDir: setting(
    anyText,
    '.sandbox',
    'the folder of the sandbox: its database, its chain, sandbox.json; of the role admin also admin.sock, by which its user operates the service.',
  ),
  shutdownGraceMs: setting(anInteger(0, 600_000), 30_000, 'how long SIGTERM waits for requests in flight.'),
};

export type ProcessConfig = Values<typeof PROCESS>;

/** Declares the settings of a context or a part of the platform. No two parts may declare one name. */
export function defineConfig<R extends Rules>(
  namespace: string,
  rules: R,
): ConfigPart<Values<R> & ProcessConfig> & {
  readonly settings: { [K in keyof R]: R[K] & Setting<unknown> };
} {
  const own = named(rules);
  const all = Object.entries({ ...named(PROCESS), ...own });
  const read = (env = process.env): object =>
    Object.fromEntries(all.map(([key, each]) => [key, readSetting(each, env)]));
  return Object.assign(registerAs(namespace, read), { namespace, settings: own }) as never;
}

export const processConfig = defineConfig('process', PROCESS);

function named(rules: Rules): Settings {
  const name = (key: string): string => key.replaceAll(/[A-Z]/g, '_$&').toUpperCase();
  return Object.fromEntries(Object.entries(rules).map(([key, rule]) => [key, { ...rule, name: name(key) }]));
}

/** Reads a setting from the environment, where an empty text counts as not set. */
function readSetting<T>(setting: Setting<T>, env: NodeJS.ProcessEnv): T {
  const { name, fallback, inProduction = fallback } = setting;
  const given = env[name]?.trim() ?? '';
  const isProduction = env['MODE']?.trim() === 'production';
  if (given === '' && isProduction && setting.needed)
    throw new ConfigError(`${name} must be set in production. ${about(setting)}`);
  if (given === '') return isProduction ? inProduction : fallback;
  try {
    return setting.parse(given);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const quoted = setting.secret ? '' : `, not "${given}"`;
    throw new ConfigError(`${name} must be ${(error as Error).message}${quoted}. ${about(setting)}`);
  }
}

export function about({ name, help }: Pick<Setting<unknown>, 'name' | 'help'>): string {
  return `${name}: ${help}`;
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export function anInteger(min: number, max: number): Parser<number> {
  return (text) => {
    const value = Number(text);
    if (!/^-?[0-9]+$/.test(text) || value < min || value > max) {
      throw new Error(`a whole number from ${min} to ${max}`);
    }
    return value;
  };
}

export function anyOf<const T extends string>(...allowed: readonly T[]): Parser<T> {
  return (text) => {
    const found = allowed.find((value) => value === text);
    if (found === undefined) throw new Error(`one of ${allowed.join(', ')}`);
    return found;
  };
}

function someOf<const T extends string>(...allowed: readonly T[]): Parser<readonly T[]> {
  return (text) => {
    const values = text.split(',').map((part) => allowed.find((value) => value === part.trim()));
    if (values.includes(undefined)) throw new Error(`a comma-separated list of ${allowed.join(', ')}`);
    return [...new Set(values as T[])];
  };
}

export function seconds(text: string): readonly number[] {
  const values = text.split(',').map((part) => part.trim());
  if (!values.every((value) => /^[0-9]+(\.[0-9]+)?$/.test(value))) {
    throw new Error('a comma-separated list of seconds, such as 0,5,300');
  }
  return values.map(Number);
}

export function url(...schemes: readonly string[]): Parser<string> {
  return (text) => {
    const found = schemes.find((scheme) => text.startsWith(`${scheme}://`));
    // The URL standard does not allow the host list of a cluster.
    const oneHost = found?.startsWith('esdb') ? text.replace(/,[^/?]+/, '') : text;
    if (found === undefined || !URL.canParse(oneHost)) {
      throw new Error(`a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`);
    }
    return text;
  };
}

/** Returns a parser that checks comma-separated URLs and returns the text unchanged; urlsIn splits it. */
export function urls(...schemes: readonly string[]): Parser<string> {
  return (text) => {
    for (const each of urlsIn(text)) url(...schemes)(each);
    return text;
  };
}

export function urlsIn(text: string): readonly string[] {
  return text.split(',').map((each) => each.trim());
}

export function anyText(value: string): string {
  return value;
}

export function flag(value: string): boolean {
  return anyOf('true', 'false')(value) === 'true';
}

export function pattern(form: RegExp, description: string): Parser<string> {
  return (value) => {
    if (!form.test(value)) throw new Error(description);
    return value;
  };
}
