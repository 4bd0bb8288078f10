import { SECRET_PREFIX } from '../../kernel/text.js';

const SECRET_FIELD =
  /secret|password|private_?key|api_?key|signature|authorization|cookie|token|master_?key|phone|e-?mail|withdraw_?address|^(code|otp|one_time_code|full_name|first_name|last_name|date_of_birth|address_line\d?|document_number)$/i;

export const REDACTED = '[redacted]';
const MAX_DEPTH = 8;

/** The redacted parts of texts: e-mail addresses, E.164 numbers, the service's secrets, passwords in URLs. */
const IN_TEXT: readonly (readonly [RegExp, string])[] = [
  [/[\w.+-]+@[\w-]+(\.[\w-]+)+/g, REDACTED],
  [/\+[1-9](?:[ ().-]?\d){6,14}\b/g, REDACTED],
  [new RegExp(`\\b${SECRET_PREFIX}[\\w+/=-]+`, 'g'), REDACTED],
  [/(:\/\/[^:/@\s]*):[^@/\s]+@/g, `$1:${REDACTED}@`],
];

export function redactText(text: string): string {
  return IN_TEXT.reduce((redacted, [pattern, replacement]) => redacted.replace(pattern, replacement), text);
}

function redactError(error: Error, depth: number): Record<string, unknown> {
  const redacted: Record<string, unknown> = {
    type: error.name,
    message: redactText(error.message),
    stack: redactText(error.stack ?? ''),
  };
  if ('code' in error) redacted['code'] = error.code;
  if (error.cause !== undefined) redacted['cause'] = redactValue(error.cause, depth + 1);
  return redacted;
}

function redactValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (depth >= MAX_DEPTH) return '[deep]';
  if (value instanceof Error) return redactError(value, depth);
  if (Array.isArray(value)) return value.map((each) => redactValue(each, depth + 1));
  if (Buffer.isBuffer(value)) return `[${value.length} bytes]`;
  return redact(value, depth);
}

/** Redacts secrets and personal data in the fields of a log line. */
export function redact(fields: object, depth = 0): Record<string, unknown> {
  const redacted = Object.entries(fields).map(([name, value]): [string, unknown] => [
    name,
    SECRET_FIELD.test(name) ? REDACTED : redactValue(value, depth + 1),
  ]);
  return Object.fromEntries(redacted);
}
