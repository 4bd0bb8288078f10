import { applyDecorators } from '@nestjs/common';
import * as swagger from '@nestjs/swagger';
import { Expose, Transform, Type } from 'class-transformer';
import { ValidateBy, ValidateNested } from 'class-validator';
import { Fault } from '../../kernel/fault.js';

/** The JSON Schema (2020-12) of one member in the OpenAPI document. */
export type Schema = Readonly<Record<string, unknown>>;

/** Declares a member of a response. The types of @nestjs/swagger lack OpenAPI 3.1, for example `const`. */
export const ApiProperty = swagger.ApiProperty as (schema: Schema) => PropertyDecorator;

export interface Rule {
  readonly schema: Schema;
  /** Returns the parsed value, or a Fault that describes the error. */
  read(value: unknown): unknown;
}

export interface FieldOptions {
  readonly optional?: boolean;
  readonly nullable?: boolean;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  /** The value of an absent optional member. */
  readonly default?: unknown;
  /** Omits the member from the OpenAPI document. */
  readonly hidden?: boolean;
}

export type Dto<T extends object = object> = new () => T;

const REQUIRED = new Fault('is required');

/** Declares a member of a request, converted by class-transformer and validated by class-validator. */
export function Field(rule: Rule, options: FieldOptions = {}): PropertyDecorator {
  const read = reader(rule, options);
  return applyDecorators(
    documented(rule.schema, options),
    // Type reads this metadata. Array prevents class-transformer from constructing a BigInt.
    Reflect.metadata('design:type', Array),
    // A type prevents class-transformer from copying the sent object and calling its member `constructor`.
    Type(() => Boolean),
    Transform(({ obj, key }: { obj: Readonly<Record<string, unknown>>; key: string }) => read(obj[key])),
    isValid((value) => value),
  );
}

export function Nested(nested: () => Dto, options: FieldOptions = {}): PropertyDecorator {
  const read = (value: unknown): unknown => (isObject(value) ? value : new Fault('must be an object'));
  return embedded(nested, {}, read, options);
}

function embedded(
  nested: () => Dto,
  schema: Schema,
  read: Rule['read'],
  options: FieldOptions,
): PropertyDecorator {
  return applyDecorators(
    documented({ type: () => nested(), ...schema }, options),
    Type(nested),
    isValid(reader({ read }, options)),
    ValidateNested(),
  );
}

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
  return embedded(nested, { isArray: true, minItems, maxItems }, read, options);
}

/** Creates the class of a response with one resource, such as `{ payout: ... }`. */
export function ResourceOf<Name extends string, Item extends object>(
  name: Name,
  item: Dto<Item>,
): Dto<Record<Name, Item>> {
  class Wrapped {}
  Nested(() => item)(Wrapped.prototype, name);
  return Wrapped as Dto<Record<Name, Item>>;
}

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

function documented(schema: Schema, { optional = false, hidden = false, ...rest }: FieldOptions) {
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
