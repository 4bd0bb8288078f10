import { applyDecorators } from '@nestjs/common';
import * as swagger from '@nestjs/swagger';
import { Expose, Transform, Type } from 'class-transformer';
import { ValidateBy, ValidateNested } from 'class-validator';
import { Fault } from '../../kernel/fault.js';

/** The JSON Schema (2020-12) of one member in the OpenAPI document. */
export type Schema = Readonly<Record<string, unknown>>;

/** Declares a member of a response. The types of @nestjs/swagger lack `const` and free-form objects of OpenAPI 3.1. */
export const ApiProperty = swagger.ApiProperty as (schema: Schema) => PropertyDecorator;

/** The rule for the value of a member. */
export interface Rule {
  readonly schema: Schema;
  /** Returns the value as the program uses it, or a {@link Fault} that says what is wrong with it. */
  read(value: unknown): unknown;
}

/** Further properties of a member. A `nullable` one may be null, an `optional` one may be left out. */
export interface FieldOptions {
  readonly optional?: boolean;
  readonly nullable?: boolean;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  /** The value of an optional member that is left out. */
  readonly default?: unknown;
  /** The OpenAPI document does not mention the member. */
  readonly hidden?: boolean;
}

export type Dto<T extends object = object> = new () => T;

const REQUIRED = new Fault('is required');

/** Declares a member of a request: class-transformer converts it, class-validator validates it by its rule. */
export function Field(rule: Rule, options: FieldOptions = {}): PropertyDecorator {
  const read = reader(rule, options);
  return applyDecorators(
    documented(rule.schema, options),
    // This comes first, because Type reads it: an array is created as its instance, and BigInt has none.
    Reflect.metadata('design:type', Array),
    // Any type keeps class-transformer from copying what was sent: it would call a member named `constructor`.
    Type(() => Boolean),
    Transform(({ obj, key }: { obj: Readonly<Record<string, unknown>>; key: string }) => read(obj[key])),
    isValid((value) => value),
  );
}

/** Declares a member that is an object with its own class. */
export function Nested(nested: () => Dto, options: FieldOptions = {}): PropertyDecorator {
  const read = (value: unknown): unknown => (isObject(value) ? value : new Fault('must be an object'));
  return applyDecorators(
    documented({ type: () => nested() }, options),
    Type(nested),
    isValid(reader({ read }, options)),
    ValidateNested(),
  );
}

/** Declares a member that is an array of objects with their own class. */
export function Many(
  nested: () => Dto,
  { minItems, maxItems, ...options }: FieldOptions & { minItems?: number; maxItems?: number } = {},
): PropertyDecorator {
  const read = (value: unknown): unknown => {
    if (!Array.isArray(value)) return new Fault('must be an array');
    if (minItems !== undefined && value.length < minItems)
      return new Fault(`must contain at least ${minItems}`);
    if (maxItems !== undefined && value.length > maxItems)
      return new Fault(`must contain at most ${maxItems}`);
    return value;
  };
  return applyDecorators(
    documented({ type: () => nested(), isArray: true, minItems, maxItems }, options),
    Type(nested),
    isValid(reader({ read }, options)),
    ValidateNested(),
  );
}

/** Creates the class of a response with one member, the resource, such as `{ payout: ... }`. */
export function ResourceOf<Name extends string, Item extends object>(
  name: Name,
  item: Dto<Item>,
): Dto<Record<Name, Item>> {
  class Wrapped {}
  Nested(() => item)(Wrapped.prototype, name);
  return Wrapped as Dto<Record<Name, Item>>;
}

/** The class of a response that is a page of resources, under their name. */
export function PageOf<Name extends string, Item extends object>(
  name: Name,
  item: Dto<Item>,
  options: { maxItems?: number } = {},
): Dto<Record<Name, readonly Item[]> & { next_cursor: string | null }> {
  class Listed {}
  Many(() => item, options)(Listed.prototype, name);
  ApiProperty({ type: 'string', nullable: true })(Listed.prototype, 'next_cursor');
  return Listed as Dto<Record<Name, readonly Item[]> & { next_cursor: string | null }>;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function documented(
  schema: Schema,
  { optional = false, hidden = false, ...rest }: FieldOptions,
): PropertyDecorator {
  const property = ApiProperty({ ...schema, ...rest, required: !optional });
  return applyDecorators(Expose(), hidden ? swagger.ApiHideProperty() : property);
}

function reader(
  rule: Pick<Rule, 'read'>,
  { optional, nullable, default: fallback }: FieldOptions,
): (value: unknown) => unknown {
  return (value) => {
    if (value === undefined) return optional ? fallback : REQUIRED;
    if (value === null && nullable) return null;
    if (value === null && !optional) return REQUIRED;
    return rule.read(value);
  };
}

/** Validates a value with `read`; the error message is that of the {@link Fault} it returns. */
function isValid(read: (value: unknown) => unknown): PropertyDecorator {
  const findFault = (value: unknown): Fault | null => {
    const found = read(value);
    return found instanceof Fault ? found : null;
  };
  return ValidateBy({
    name: 'field',
    validator: {
      validate: (value) => findFault(value) === null,
      defaultMessage: (at) => findFault(at?.value)?.message ?? '',
    },
  });
}
