import { Refusal } from '../../exchange/provider-server.js';

/** A form of Stripe as an object: `individual[dob][day]=1`; null for a list or what is no such form. */
export type Form = { [name: string]: string | Form };

export function formOf(text: string): Form {
  const form: Form = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const [first, ...rest] = name.split(/[[\]]+/).filter((part) => part !== '');
    const path = [first ?? '', ...rest];
    let into = form;
    for (const part of path.slice(0, -1)) {
      into[part] ??= {};
      into = into[part] as Form;
    }
    into[path.at(-1)!] = value;
  }
  return form;
}

/** What Stripe refuses, with its status and the members of its error. */
export class Refused extends Refusal {
  constructor(
    status: number,
    message: string,
    fields: { readonly type?: string; readonly code?: string; readonly param?: string } = {},
  ) {
    super(status, { error: { type: 'invalid_request_error', message, ...fields } });
  }
}

export function require(value: string | Form | undefined, param: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new Refused(400, `Missing required param: ${param}.`, { code: 'parameter_missing', param });
}

export function invalid(param: string, message: string): Refused {
  return new Refused(400, `Invalid ${param}: ${message}`, { code: 'parameter_invalid', param });
}

const DAY_MS = 86_400_000;
const NAME = /^[\p{Script=Latin} .,'-]+$/u;

/** By the descriptions of the parameters. */
export function checkPerson(form: Form, isNew: boolean): void {
  const { name, email, phone_number: phone } = form;
  const individual = form['individual'] as Record<string, Form>;
  if (isNew) {
    const printed = require(name, 'name');
    if (printed.length > 24 || !NAME.test(printed))
      throw invalid('name', 'has at most 24 characters, and no numbers or special ones');
  }
  for (const each of ['first_name', 'last_name'])
    if (!NAME.test(String(individual[each])))
      throw invalid(`individual[${each}]`, 'contains numbers, special characters or non-Latin letters');
  const { day, month, year } = individual['dob'] as Record<string, string>;
  const born = Date.UTC(Number(year), Number(month) - 1, Number(day));
  if (Number.isNaN(born) || Date.now() - born < 13 * 365.25 * DAY_MS)
    throw invalid('individual[dob][year]', 'cardholders must be older than 13 years');
  if (!/^\+[1-9]\d{6,14}$/.test(phone as string))
    throw invalid('phone_number', 'is not a valid phone number');
  if (email !== undefined && !/^[^@\s]+@[^@\s]+\.[a-z]{2,}$/i.test(email as string))
    throw invalid('email', 'is not a valid email address');
}
