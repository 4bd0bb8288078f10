import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { equivalents } from './equivalents.js';
import { compilerOf } from './compiler.js';
import { instrument } from './instrument.mjs';

/** A fault: one expression of one file replaced by another. */
export interface Mutant {
  readonly id: string;
  readonly file: string;
  readonly line: number;
  readonly original: string;
  readonly replacement: string;
  /** The whole file with the fault. */
  readonly text: string;
}

export interface Faults {
  /** The text of each file with all faults, of which an environment variable of Stryker selects one. */
  readonly instrumented: ReadonlyMap<string, string>;
  readonly mutants: readonly Mutant[];
  /** The number of omitted faults that change nothing (`equivalents`). */
  readonly equivalent: number;
}

/** Returns every fault that StrykerJS creates in the files, except in prose, and except equivalent ones. */
export async function faultsOf(files: readonly string[]): Promise<Faults> {
  const sources = files.map((name) => ({ name, content: readFileSync(name, 'utf8'), mutate: true as const }));
  const result = await instrument(sources);
  const textOf = new Map(sources.map(({ name, content }) => [name, content]));
  const all = result.mutants.map(({ id, fileName, location, replacement }): Mutant => {
    const content = textOf.get(fileName)!;
    const [start, end] = [offsetIn(content, location.start), offsetIn(content, location.end)];
    return {
      id,
      file: fileName,
      line: location.start.line + 1,
      original: content.slice(start, end),
      replacement,
      text: content.slice(0, start) + replacement + content.slice(end),
    };
  });
  const faults = all.filter((mutant) => !isProse(mutant));
  const known = equivalents(faults);
  return {
    instrumented: new Map(result.files.map(({ name, content }) => [name, content])),
    mutants: faults.filter((mutant) => !known.has(mutant)),
    equivalent: known.size,
  };
}

/** Selects `count` faults that compile. The same seed and tree select the same faults. */
export function draw(mutants: readonly Mutant[], count: number, seed: number): readonly Mutant[] {
  const compiles = compilerOf();
  const place = ({ id }: Mutant): string => createHash('sha1').update(`${seed} ${id}`).digest('hex');
  const places = new Map(mutants.map((mutant) => [mutant, place(mutant)]));
  const shuffled = mutants.toSorted((a, b) => places.get(a)!.localeCompare(places.get(b)!));
  const drawn: Mutant[] = [];
  for (let from = 0; from < shuffled.length && drawn.length < count; from += count) {
    drawn.push(...compiles(shuffled.slice(from, from + count)));
  }
  return drawn.slice(0, count);
}

/** Text that contains a space is prose. */
const isProse = ({ original, replacement }: Mutant): boolean =>
  /^(["'`]).*\s.*\1$/s.test(original) && /^(""|``|"Stryker was here!")$/.test(replacement);

function offsetIn(
  text: string,
  { line, column }: { readonly line: number; readonly column: number },
): number {
  let start = 0;
  for (let n = 0; n < line; n += 1) start = text.indexOf('\n', start) + 1;
  return start + column;
}
