/** Reads one setting out of its text. Throws an Error whose message finishes the sentence "PORT must be ...". */
export type Parser<T> = (text: string) => T;

export interface Setting<T> {
  readonly name: string;
  readonly help: string;
  readonly parse: Parser<T>;
  readonly fallback: T;
  /** Neither documentation nor errors display its value. */
  readonly secret?: boolean;
}

/** By their keys in the configuration. */
export type Settings = Readonly<Record<string, Setting<unknown>>>;

/** The values of settings. */
export type SettingsOf<S> = { readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never };

export function setting<T>(
  name: string,
  parse: Parser<T>,
  fallback: T,
  help: string,
  secret = false,
): Setting<T> {
  return { name, parse, fallback, help, secret };
}

/** A setting that is null when it is not set. */
export function optional<T>(name: string, parse: Parser<T>, help: string, secret = false): Setting<T | null> {
  return { name, parse, fallback: null, help, secret };
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

export function someOf<const T extends string>(...allowed: readonly T[]): Parser<readonly T[]> {
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
    // A cluster is a list of hosts, which is no URL by the standard.
    const oneHost = found?.startsWith('esdb') ? text.replace(/,[^/?]+/, '') : text;
    if (found === undefined || !URL.canParse(oneHost)) {
      throw new Error(`a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`);
    }
    return text;
  };
}

/** URLs separated by commas; the text stays as it is, {@link urlsIn} takes it apart. */
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

/** What a setting is for, as the end of a sentence about it. */
export function about({ name, help }: Pick<Setting<unknown>, 'name' | 'help'>): string {
  return `${name}: ${help}`;
}

/** In production these have no default. */
export function neededInProduction(config: { readonly mode: string }, settings: Settings): void {
  for (const [key, each] of Object.entries(settings)) {
    if (config.mode === 'production' && (config as Record<string, unknown>)[key] === null)
      throw new ConfigError(`${each.name} must be set in production. ${about(each)}`);
  }
}

/** The setting's value from the environment; an empty text counts as not set. */
export function readSetting<T>(setting: Setting<T>, env: NodeJS.ProcessEnv): T {
  const given = env[setting.name];
  if (given === undefined || given.trim() === '') return setting.fallback;
  try {
    return setting.parse(given.trim());
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const quoted = setting.secret ? '' : `, not "${given}"`;
    throw new ConfigError(`${setting.name} must be ${(error as Error).message}${quoted}. ${about(setting)}`);
  }
}
