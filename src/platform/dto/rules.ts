import { DomainError } from '../../kernel/domain-error.js';
import { isUuid, readUuid } from '../../kernel/ids.js';
import { parseInstant, toUtc } from '../../kernel/instant.js';
import { Fault } from '../../kernel/fault.js';
import { tidy } from '../../kernel/typed-text.js';
import { isObject, type Rule, type Schema } from './field.js';

export const TEXT: Schema = { type: 'string' };
export const STRINGS: Schema = { type: 'array', items: TEXT };
export const UUID: Schema = { type: 'string', format: 'uuid' };
export const TIME: Schema = { type: 'string', format: 'date-time' };
export const COUNT: Schema = { type: 'integer', minimum: 0 };
export const USDC: Schema = {
  type: 'string',
  pattern: '^[0-9]+(\\.[0-9]{1,6})?$',
  description: 'A decimal of USDC.',
  examples: ['25.50'],
};

export function nullable(schema: Schema, description?: string): Schema {
  return { ...schema, nullable: true, ...(description !== undefined && { description }) };
}

/** Rejects NUL, because PostgreSQL cannot store it in a text. */
const withoutNul = (value: string): string | Fault =>
  value.includes('\0') ? new Fault('must not contain control characters') : value;

export function text(schema: Schema = {}, read: (value: string) => unknown = withoutNul): Rule {
  return {
    schema: { type: 'string', ...schema },
    read: (value) => (typeof value === 'string' ? read(value) : new Fault('must be a string')),
  };
}

/** A UUID, read in lower case. */
export const uuid: Rule = {
  schema: UUID,
  read: (value) => readUuid(value) ?? new Fault('must be a uuid'),
};

/** Returns the id of a resource in lower case. Throws `not_found` unless it is a UUID (contract.md 3.4). */
export function parseId(value: unknown, what: string): string {
  if (!isUuid(value)) throw DomainError.notFound(what);
  return value.toLowerCase();
}

export function oneOf(values: readonly string[]): Rule {
  const fault = new Fault(values.length > 1 ? `must be one of ${values.join(', ')}` : `must be ${values[0]}`);
  return {
    schema: { type: 'string', enum: [...values] },
    read: (value) => (values.some((each) => each === value) ? value : fault),
  };
}

export function integer(minimum: number, maximum: number): Rule {
  return {
    schema: { type: 'integer', minimum, maximum },
    read: (value) => {
      if (!Number.isInteger(value)) return new Fault('must be an integer');
      return (value as number) >= minimum && (value as number) <= maximum
        ? value
        : new Fault(`must be from ${minimum} to ${maximum}`);
    },
  };
}

/** The rule for a whole number in a query string, with inclusive bounds. */
export function digits(minimum: number, maximum: number): Rule {
  const fault = new Fault(`must be a whole number from ${minimum} to ${maximum}`);
  return {
    schema: { type: 'integer', minimum, maximum },
    read: (value) => {
      const number = typeof value === 'string' && /^[0-9]{1,15}$/.test(value) ? Number(value) : NaN;
      return number >= minimum && number <= maximum ? number : fault;
    },
  };
}

/** A calendar date `YYYY-MM-DD` that exists. */
export const day: Rule = {
  schema: { type: 'string', format: 'date' },
  read: (value) => {
    const date = typeof value === 'string' ? tidy(value) : '';
    const exists = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(date) && toUtc(`${date}T00:00`) !== null;
    return exists ? date : new Fault('must be a date of the form YYYY-MM-DD');
  },
};

/** A date and time of ISO 8601 with an offset, read as a Date. */
export const instant: Rule = {
  schema: TIME,
  read: (value) =>
    (typeof value === 'string' ? parseInstant(value) : null) ??
    new Fault('must be a date and time such as 2026-01-31T12:00:00Z'),
};

export const freeForm: Rule = {
  schema: { type: 'object' },
  read: (value) => (isObject(value) ? value : new Fault('must be an object')),
};
