import { ApiProperty } from '../dto/field.js';

/** What every refusal has (contract.md 3). */
export class ProblemDetails {
  @ApiProperty({ const: 'about:blank' })
  type!: string;

  @ApiProperty({ type: 'string', minLength: 1 })
  detail!: string;

  @ApiProperty({ type: 'null' })
  instance!: null;

  @ApiProperty({
    type: 'object',
    description: 'On 422: field name to messages.',
    additionalProperties: { type: 'array', items: { type: 'string' }, minItems: 1 },
  })
  errors!: Record<string, string[]>;
}

export class Problem extends ProblemDetails {
  @ApiProperty({ type: 'string', minLength: 1 })
  title!: string;

  @ApiProperty({ type: 'integer', minimum: 400, maximum: 599 })
  status!: number;
}
