import type { Mutant } from './draw.js';

/** A change of the text without an observable effect. */
interface Equivalent {
  readonly file: string;
  readonly original: string;
  readonly replacement: string;
  readonly because: string;
}

const EQUIVALENTS: readonly Equivalent[] = [
  {
    file: 'src/contexts/audit/ledger/head-signer.processor.ts',
    original: 'bytes - from',
    replacement: 'bytes + from',
    because: 'the zeros behind the last line are cut off with what is half written: it only takes memory',
  },
  {
    file: 'src/contexts/audit/verify/streams.ts',
    original: 'a.length > b.length',
    replacement: 'a.length >= b.length',
    because: 'the lengths differ there',
  },
  {
    file: 'src/contexts/access/credentials/credential-kinds.ts',
    original: '[]',
    replacement: '["Stryker was here"]',
    because: 'only what follows the first element is read',
  },
  {
    file: 'widgets/pay/decimal-text.ts',
    original: '[]',
    replacement: '["Stryker was here"]',
    because: 'only what follows the first element is read',
  },
];

/** Throws when an entry fits no mutant any more. */
export function equivalents(mutants: readonly Mutant[]): ReadonlySet<Mutant> {
  const files = new Set(mutants.map(({ file }) => file));
  const found = EQUIVALENTS.filter(({ file }) => files.has(file)).map(({ file, original, replacement }) => {
    const fitting = mutants.filter(
      (mutant) => mutant.file === file && mutant.original === original && mutant.replacement === replacement,
    );
    if (fitting.length === 0) throw new Error(`${file} has no mutant ${original} → ${replacement} any more`);
    return fitting;
  });
  return new Set(found.flat());
}
