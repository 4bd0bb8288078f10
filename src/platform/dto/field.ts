import { getMetadataStorage, ValidateBy, ValidateNested } from 'class-validator';
import { Fault } from '../../kernel/fault.js';
import { note } from './notes.js';

/** JSON Schema (2020-12) of one member, as the document shows it. */
export type Schema = Readonly<Record<string, unknown>>;

/** What a member may hold. */
export interface Rule {
  readonly schema: Schema;
  /** The value as the program uses it. `raw` is the text that the whole body was parsed from. */
  read(value: unknown, raw: () => string): unknown;
}

/** What else the document says of a member. `nullable`: null is a value of it. `optional`: it may be left out. */
export interface FieldOptions {
  readonly optional?: boolean;
  readonly nullable?: boolean;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  /** Of an optional member: what it is when it is left out. */
  readonly default?: unknown;
  /** The document does not tell of it. */
  readonly hidden?: boolean;
}

export type Dto<T extends object = object> = new () => T;

/** One member of a DTO, as {@link membersOf} finds it. */
export interface Member {
  readonly name: string;
  readonly schema: Schema;
  readonly optional: boolean;
  /** The class of an object; its members are read after {@link read}. */
  readonly nested?: () => Dto;
  /** Of `nested`: an array of them. */
  readonly many?: boolean;
  read(value: unknown, raw: () => string): unknown;
}

const REQUIRED = new Fault('is required');
const asItIs = (value: unknown): unknown => value;

/** A member of a DTO: what is asked of it, and what the document says of it. */
export function Field(rule: Rule, options: FieldOptions = {}): PropertyDecorator {
  return member(rule, rule.schema, options);
}

/** A member of a response: nothing is asked of it, tests hold responses to the document. */
export function Shown(schema: Schema, options: FieldOptions = {}): PropertyDecorator {
  return member({ read: asItIs }, schema, options);
}

// @nestjs/swagger tells a function that gives the class from the class by its name, `type`.

/** A member that is an object with a class of its own. */
export function Nested(nested: () => Dto, options: FieldOptions = {}): PropertyDecorator {
  return member({ read: readObject, nested }, { type: () => nested() }, options);
}

/** A member that is an array of objects with a class of their own. */
export function Many(
  nested: () => Dto,
  { minItems, maxItems, ...options }: FieldOptions & { minItems?: number; maxItems?: number } = {},
): PropertyDecorator {
  const read = (value: unknown): unknown => {
    if (!Array.isArray(value)) return new Fault('must be an array');
    if (minItems !== undefined && value.length < minItems) return new Fault(`must hold at least ${minItems}`);
    if (maxItems !== undefined && value.length > maxItems) return new Fault(`must hold at most ${maxItems}`);
    return value;
  };
  const schema = { type: () => nested(), isArray: true, minItems, maxItems };
  return member({ read, nested, many: true }, schema, options);
}

function readObject(value: unknown): unknown {
  return isObject(value) ? value : new Fault('must be an object');
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function member(
  rule: Pick<Member, 'read' | 'nested' | 'many'>,
  schema: Schema,
  { optional = false, hidden = false, ...said }: FieldOptions,
): PropertyDecorator {
  const read: Member['read'] = (value, raw) => {
    if (value === undefined) return optional ? said.default : REQUIRED;
    if (value === null && said.nullable) return null;
    if (value === null && !optional) return REQUIRED;
    return rule.read(value, raw);
  };
  return (target, key) => {
    const found: Member = { ...rule, name: String(key), schema: { ...schema, ...said }, optional, read };
    registerWithClassValidator(found, target, String(key));
    if (!hidden)
      note(({ ApiProperty }) => ApiProperty({ ...found.schema, required: !optional })(target, key));
  };
}

const unread = (): string => '';

function registerWithClassValidator(found: Member, target: object, key: string): void {
  const faultOf = (value: unknown): Fault | null => {
    const read = found.read(value, unread);
    return read instanceof Fault ? read : null;
  };
  ValidateBy({
    name: 'field',
    constraints: [found],
    validator: {
      validate: (value) => faultOf(value) === null,
      defaultMessage: (at) => faultOf(at?.value)?.message ?? '',
    },
  })(target, key);
  if (found.nested) ValidateNested()(target, key);
}

const known = new WeakMap<Dto, readonly Member[]>();

/** The members of a DTO, those of its own class before inherited ones. */
export function membersOf(dto: Dto): readonly Member[] {
  let members = known.get(dto);
  if (members === undefined) {
    members = getMetadataStorage()
      .getTargetValidationMetadatas(dto, '', false, false)
      .filter(({ type }) => type !== 'nestedValidation')
      .map(({ name, propertyName, constraints }) => {
        if (name === 'field') return (constraints as [Member])[0];
        throw new Error(`${dto.name}.${propertyName} has a rule that readDto does not know: use Field`);
      });
    known.set(dto, members);
  }
  return members;
}
