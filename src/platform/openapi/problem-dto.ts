import { Shown } from '../dto/field.js';

/** What every refusal has (contract.md 3). */
export class ProblemDetails {
  @Shown({ const: 'about:blank' })
  type!: string;

  @Shown({ type: 'string', minLength: 1 })
  detail!: string;

  @Shown({ type: 'null' })
  instance!: null;

  @Shown({
    type: 'object',
    description: 'On 422: field name to messages.',
    additionalProperties: { type: 'array', items: { type: 'string' }, minItems: 1 },
  })
  errors!: Record<string, string[]>;
}

export class Problem extends ProblemDetails {
  @Shown({ type: 'string', minLength: 1 })
  title!: string;

  @Shown({ type: 'integer', minimum: 400, maximum: 599 })
  status!: number;
}
