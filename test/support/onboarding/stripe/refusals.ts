import { Refusal } from '../../exchange/provider-server.js';
import type { Form } from './forms.js';

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

export function unknownParameter(param: string): Refused {
  return new Refused(400, `Received unknown parameter: ${param}`, { code: 'parameter_unknown', param });
}
