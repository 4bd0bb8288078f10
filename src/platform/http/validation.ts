import { ValidationPipe, type ArgumentMetadata, type ValidationError } from '@nestjs/common';
import { DomainError, type FieldErrors } from '../../kernel/domain-error.js';

/** Messages by leaf field: `{webhook_endpoint: {url}}` is blamed as `url`. A wrapper itself is blamed when it is at fault. */
export function fieldErrors(errors: readonly ValidationError[]): FieldErrors {
  const fields: Record<string, string[]> = {};
  const visit = (error: ValidationError): void => {
    const messages = Object.values(error.constraints ?? {});
    if (messages.length > 0) (fields[error.property] ??= []).push(...messagesOf(error, messages));
    error.children?.forEach(visit);
  };
  errors.forEach(visit);
  return fields;
}

/** Whatever else is asked of a field, one that was left out is told nothing but that. */
function messagesOf({ property, value }: ValidationError, messages: readonly string[]): readonly string[] {
  return value === undefined ? ['is required'] : messages.map((message) => withoutField(message, property));
}

/** class-validator begins its messages with the field's name, which is the key already. */
function withoutField(message: string, field: string): string {
  return message.startsWith(`${field} `) ? message.slice(field.length + 1) : message;
}

/** A DTO class, as opposed to the types that TypeScript leaves for `unknown`, interfaces and plain values. */
function isDto(metatype: ArgumentMetadata['metatype']): boolean {
  return (
    metatype !== undefined && ![Object, String, Number, Boolean, Array].some((plain) => plain === metatype)
  );
}

/**
 * Values that a body for a DTO may hold, unknown fields included: class-transformer visits each of them, which for a
 * body of a megabyte holds up the whole process for seconds.
 */
const MOST_VALUES = 1000;

class BodyValidationPipe extends ValidationPipe {
  constructor() {
    super({
      transform: true,
      whitelist: true,
      forbidUnknownValues: false,
      stopAtFirstError: true,
      validationError: { target: false },
      exceptionFactory: (errors) => DomainError.invalid(fieldErrors(errors)),
    });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (metadata.type !== 'body' || !isDto(metadata.metatype)) return value;
    const body = requireObject(value);
    if (!holdsAtMost(MOST_VALUES, body))
      throw new DomainError('validation_failed', `The request body holds more than ${MOST_VALUES} values`);
    return super.transform(body, metadata);
  }
}

function holdsAtMost(most: number, body: object): boolean {
  const unseen: unknown[] = [body];
  let count = 0;
  for (let next = unseen.pop(); next !== undefined; next = unseen.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const values: unknown[] = Object.values(next);
    count += values.length;
    if (count > most) return false;
    unseen.push(...values);
  }
  return true;
}

/** The body when it is a JSON object. Throws DomainError `validation_failed` (422) for anything else, none included. */
export function requireObject(body: unknown): Readonly<Record<string, unknown>> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new DomainError('validation_failed', 'The request body must be a JSON object');
  }
  return body as Readonly<Record<string, unknown>>;
}

/** Unknown fields are dropped, not refused: v1 only grows, and clients may be ahead of us. */
export const bodyValidation = new BodyValidationPipe();
