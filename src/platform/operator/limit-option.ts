import { Option } from 'commander';
import { DomainError } from '../../kernel/domain-error.js';

/** `--limit <number>`: how many rows a list has. */
export function limitOption(): Option {
  return new Option('--limit <number>', 'how many').default(100).argParser(limitOf);
}

function limitOf(text: string): number {
  if (!/^[1-9][0-9]{0,4}$/.test(text))
    throw new DomainError('bad_request', '--limit must be a number from 1 to 99999');
  return Number(text);
}
