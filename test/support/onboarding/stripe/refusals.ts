import type { Form } from './forms.js';

/** What Stripe refuses, with its status and the members of its error. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly fields: { readonly type?: string; readonly code?: string; readonly param?: string } = {},
  ) {
    super(message);
  }
}

export function require(value: string | Form | undefined, param: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new Refused(400, `Missing required param: ${param}.`, { code: 'parameter_missing', param });
}

export function invalid(param: string, message: string): Refused {
  return new Refused(400, `Invalid ${param}: ${message}`, { code: 'parameter_invalid', param });
}

export function unknownParameter(param: string): Refused {
  return new Refused(400, `Received unknown parameter: ${param}`, { code: 'parameter_unknown', param });
}

export function refusal({ status, message, fields }: Refused): readonly [number, Record<string, unknown>] {
  return [status, { error: { type: 'invalid_request_error', message, ...fields } }];
}
