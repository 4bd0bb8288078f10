import { Fault } from '../../kernel/fault.js';
import { isObject, membersOf, type Dto } from './field.js';

/** One fault: `events[3].event_id` is the path of the member `event_id`. */
export interface FoundFault {
  readonly path: string;
  readonly name: string;
  readonly message: string;
}

const NO_TEXT = (): string => '';

/**
 * The members of a DTO that `source` holds, as their rules read them; what else it holds is not looked at. Faults are added
 * to `faults`; where there are any, the result is of no use. It is class-validator's verdict (test/contract/dto.spec.ts) at
 * a fiftieth of its price.
 */
export function readDto<T extends object>(
  dto: Dto<T>,
  source: Readonly<Record<string, unknown>>,
  faults: FoundFault[],
  raw: () => string = NO_TEXT,
  path = '',
): T {
  const target = new dto() as T & Record<string, unknown>;
  for (const { name, nested, many, read } of membersOf(dto)) {
    const value = read(source[name], raw);
    if (value === undefined) continue;
    if (value instanceof Fault) {
      faults.push({ path: path + name, name, message: value.message });
    } else if (nested === undefined || value === null) {
      (target as Record<string, unknown>)[name] = value;
    } else if (many) {
      (target as Record<string, unknown>)[name] = (value as unknown[]).map((each, index) => {
        const at = `${path}${name}[${index}]`;
        if (isObject(each)) return readDto(nested(), each, faults, raw, `${at}.`);
        faults.push({ path: at, name, message: `[${index}] must be an object` });
        return undefined;
      });
    } else {
      const inner = value as Readonly<Record<string, unknown>>;
      (target as Record<string, unknown>)[name] = readDto(nested(), inner, faults, raw, `${path}${name}.`);
    }
  }
  return target;
}
