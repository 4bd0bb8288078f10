import { Fault } from '../../../kernel/fault.js';

const MAX_BYTES = 2048;
/** No white space or backslash: browsers drop or replace them. */
const FORM = /^https?:\/\/[^\s\\\p{Cc}]+$/iu;
const LOOPBACK = ['localhost', '127.0.0.1'];

/** Where the pay page leads back to, as it was given, or what is wrong with it (contract.md 25.6). */
export function readReturnUrl(text: string | null, mode: 'sandbox' | 'production'): string | null | Fault {
  if (text === null) return null;
  if (Buffer.byteLength(text) > MAX_BYTES) return new Fault(`must have at most ${MAX_BYTES} bytes`);
  const url = FORM.test(text) && URL.canParse(text) ? new URL(text) : null;
  const isHttps = url?.protocol === 'https:';
  const isLocal = mode === 'sandbox' && url?.protocol === 'http:' && LOOPBACK.includes(url.hostname);
  return (isHttps || isLocal) && url.username === '' && url.password === ''
    ? text
    : new Fault(
        'must be an absolute https address without a user name, or in the sandbox one of http://localhost',
      );
}
