import { DomainError } from '../../../kernel/domain-error.js';
import { Fault } from '../../../kernel/fault.js';
import { readLabel } from '../../../kernel/text.js';
import { tidy } from '../../../kernel/typed-text.js';
import type { Rule } from '../../../platform/dto/field.js';
import { text } from '../../../platform/dto/rules.js';
import { readRecordable } from '../../../platform/http/admin/writes.js';
import { canonicalCidrs } from '../credentials/allow-lists.service.js';

const MAX_ITEMS = 100;

export function listOf(item: Rule): Rule {
  return {
    schema: { type: 'array', items: item.schema, maxItems: MAX_ITEMS },
    read: (value) => {
      if (!Array.isArray(value)) return new Fault('must be an array');
      if (value.length > MAX_ITEMS) return new Fault(`must contain at most ${MAX_ITEMS} items`);
      const read = value.map((each) => item.read(each));
      const wrong = read.findIndex((each) => each instanceof Fault);
      return wrong < 0 ? read : new Fault(`[${wrong}] ${(read[wrong] as Fault).message}`);
    },
  };
}

const MAX_LABEL = 255;

/** The rule for one line of text, which is trimmed. */
export const label: Rule = text({ minLength: 1, maxLength: MAX_LABEL }, (value) =>
  findFault(() => readLabel('label', value, MAX_LABEL)),
);

const MAX_TOKEN = 512;

export const leakedToken: Rule = text({ minLength: 1, maxLength: MAX_TOKEN }, (value) =>
  tidy(value) !== '' && value.length <= MAX_TOKEN
    ? tidy(value)
    : new Fault(`must have 1 to ${MAX_TOKEN} characters`),
);

/** The rule for addresses and CIDR ranges, which are read in canonical form. */
export const networks: Rule = {
  schema: { type: 'array', items: { type: 'string' }, maxItems: MAX_ITEMS, examples: [['203.0.113.0/24']] },
  read: (value) => {
    const texts = listOf(text()).read(value);
    return texts instanceof Fault ? texts : findFault(() => canonicalCidrs(texts as string[]));
  },
};

function findFault<T>(read: () => T): T | Fault {
  try {
    return read();
  } catch (error) {
    if (error instanceof DomainError) return new Fault(Object.values(error.fields)[0]?.[0] ?? error.message);
    throw error;
  }
}

const MAX_URL = 2048;

/** The rule for an https URL. It drops user, query and fragment, because they may contain a secret. */
export const place: Rule = text({ minLength: 1, maxLength: MAX_URL, format: 'uri' }, (value) => {
  if (!URL.canParse(value)) return new Fault('must be an https address');
  const { protocol, origin, pathname } = new URL(value);
  return protocol === 'https:' ? readRecordable(origin + pathname) : new Fault('must be an https address');
});

export const truth: Rule = {
  schema: { type: 'boolean' },
  read: (value) => (typeof value === 'boolean' ? value : new Fault('must be true or false')),
};
