import { Fault } from '../../../kernel/fault.js';
import { CONTROL_AND_LINE_SEPARATORS, findUnrecordable } from '../../../kernel/text.js';
import { ApiProperty, Field, type Rule } from '../../dto/field.js';
import { text } from '../../dto/rules.js';
import type { OperationOutcome, OperationRequest } from '../../operations/operations.js';
import { Reply } from '../reply.js';
import type { AdminWrite, SubjectWrite } from './admin.guard.js';

export function readRecordable(text: string): string | Fault {
  const fault = findUnrecordable(text);
  return fault === null ? text : new Fault(fault);
}

/** Returns the rule for one line of recordable text, with `min` to `max` characters after `clean`. */
export function line(min: number, max: number, clean = (value: string) => value.trim()): Rule {
  return text({ minLength: min, maxLength: max }, (value) => {
    const trimmed = clean(value);
    const length = [...trimmed].length;
    if (length < min || length > max) return new Fault(`must have ${min} to ${max} characters`);
    return CONTROL_AND_LINE_SEPARATORS.test(trimmed)
      ? new Fault('must not contain control characters')
      : readRecordable(trimmed);
  });
}

/** The reason of an operator's write (admin-api.md 4). */
export const reasonRule = line(3, 500);
export const ticketRule = line(1, 255);

export class WriteBody {
  @Field(reasonRule, { description: 'Why, without personal data: it is kept for ever.' }) reason!: string;

  @Field(ticketRule, { optional: true, nullable: true, description: 'The ticket that it belongs to.' })
  ticket?: string | null;
}

/** Returns the request of an operation. `merchantId` is the merchant whose data change, or null. */
export function toWrite(
  { requester, idempotency, subject }: AdminWrite & Partial<Pick<SubjectWrite, 'subject'>>,
  { reason, ticket = null }: WriteBody,
  merchantId: string | null,
): OperationRequest {
  return { requester, idempotency, revision: subject?.revision ?? null, reason, ticket, merchantId };
}

export class PendingResponse {
  @ApiProperty({
    type: 'object',
    description: 'As GET /admin/v1/operations/{id} responds with it.',
    additionalProperties: true,
  })
  operation!: object;
}

/** Returns the response of a write: 202 while the operation waits for its approval. */
export async function written(
  { operation, result }: OperationOutcome,
  status: number,
  body: (result: object) => Promise<object> | object,
): Promise<Reply> {
  if (operation.status === 'pending_approval')
    return new Reply(202, JSON.stringify({ operation, ...result }));
  return new Reply(status, JSON.stringify({ ...(await body(result)), operation_id: operation.id }));
}
