import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { PREFIX, removeRun, sweepOrphans } from '../support/jest/test-run.mjs';
import { areaOf, AREAS } from './areas.js';
import { draw, faultsOf, type Faults, type Mutant } from './draw.js';
import { nearestSpecs } from './nearest.js';
import { SpecProcess, type SpecResult } from './spec-process.js';

const MIN_NOTICED = 0.9;
const FIRST_RUN_MS = 300_000;
/** A fault that so many specs reach without a failure is not noticed. */
const MAX_SPECS = 3;

/** `npm run mutants -- --count N --seed S` exits with 0 if 90 % are noticed, 1 if not, 2 if misused. */
async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      count: { type: 'string', default: '300' },
      seed: { type: 'string', default: '1' },
      workers: { type: 'string', default: '1' },
      area: { type: 'string' },
      file: { type: 'string' },
    },
  });
  const [count, seed, workers] = [values.count, values.seed, values.workers].map(Number) as [
    number,
    number,
    number,
  ];
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
    .split('\n')
    .filter((name) => name !== '' && existsSync(name));
  const chosen = files.filter((name) => {
    const area = areaOf(name);
    return area !== undefined && (values.area ?? area.name) === area.name && name.includes(values.file ?? '');
  });
  if (![count, seed, workers].every((each) => Number.isInteger(each) && each > 0) || chosen.length === 0) {
    console.error(
      'npm run mutants -- [--count 300] [--seed 1] [--workers 1] [--file PART_OF_PATH]\n' +
        `                   [--area ${AREAS.map(({ name }) => name).join('|')}]`,
    );
    return 2;
  }
  const began = performance.now();
  const faults = await faultsOf(chosen);
  const mutants = draw(faults.mutants, count, seed);
  const left = `${faults.equivalent} equivalent ones left out`;
  console.log(
    `${mutants.length} of ${faults.mutants.length} faults in ${chosen.length} files, seed ${seed}; ${left}`,
  );
  await sweepOrphans();
  const folder = mkdtempSync(join(tmpdir(), PREFIX));
  try {
    const survivors = await survivorsOf(mutants, {
      processes: prepare(folder, files, faults, workers),
      nearest: nearestSpecs(files),
    });
    console.log();
    for (const { name } of AREAS) {
      const of = (each: Mutant): boolean => areaOf(each.file)!.name === name;
      const all = mutants.filter(of).length;
      if (all > 0) console.log(`${name}: ${all - survivors.filter(of).length} of ${all}`);
    }
    const noticed = 1 - survivors.length / mutants.length;
    const share = `${mutants.length - survivors.length} of ${mutants.length} noticed (${(noticed * 100).toFixed(1)} %)`;
    console.log(`${share} in ${Math.round((performance.now() - began) / 1000)} s`);
    return noticed >= MIN_NOTICED ? 0 : 1;
  } finally {
    await removeRun(folder);
  }
}

/** Copies the tree with all faults, and starts processes there. Its servers are those of one test run. */
function prepare(folder: string, files: readonly string[], faults: Faults, workers: number): SpecProcess[] {
  chmodSync(folder, 0o711);
  writeFileSync(join(folder, 'run.pid'), String(process.pid));
  const tree = join(folder, 'tree');
  for (const file of files) {
    mkdirSync(join(tree, dirname(file)), { recursive: true });
    const text = faults.instrumented.get(file);
    if (text === undefined) cpSync(file, join(tree, file));
    else writeFileSync(join(tree, file), text);
  }
  for (const name of ['node_modules', 'dist']) symlinkSync(resolve(name), join(tree, name));
  const env = { ...process.env, DISBURSE_TEST_RUN: folder, MUTANTS_CACHE: join(folder, 'jest') };
  return Array.from({ length: workers }, () => new SpecProcess(tree, env));
}

/** Prints the faults that no test notices, and resolves to them. */
async function survivorsOf(
  mutants: readonly Mutant[],
  { processes, nearest }: { processes: readonly SpecProcess[]; nearest: (file: string) => readonly string[] },
): Promise<readonly Mutant[]> {
  const survivors: Mutant[] = [];
  const withoutFault = new Map<string, SpecResult>();
  // The mutants of one file run in sequence, so that its specs stay warm.
  const waiting = [...mutants].sort((a, b) => Number(a.id) - Number(b.id));
  let done = 0;
  const work = async (runner: SpecProcess): Promise<void> => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const missedBy = await isNoticed(mutant, runner);
      done += 1;
      if (missedBy === null) continue;
      survivors.push(mutant);
      const { file, line, original, replacement } = mutant;
      console.log(
        `\n${file}:${line} ${missedBy} (${done} done)\n  - ${oneLine(original)}\n  + ${oneLine(replacement)}`,
      );
    }
    runner.stop();
  };
  /** Resolves to null if a spec notices the fault, otherwise to the specs that did not. */
  const isNoticed = async ({ id, file }: Mutant, runner: SpecProcess): Promise<string | null> => {
    const ran: string[] = [];
    const { suites } = areaOf(file)!;
    for (const spec of [...new Set([...nearest(file), ...suites])]) {
      // A suite is as slow as a hundred specs, so that it runs only for faults that no spec reaches.
      if (ran.length === MAX_SPECS || (ran.length > 0 && spec.endsWith('.e2e.ts'))) break;
      const usual = withoutFault.get(spec) ?? (await runner.run(spec, null, FIRST_RUN_MS));
      if (!withoutFault.has(spec) && usual.failed) console.log(`left out, it fails without a fault: ${spec}`);
      withoutFault.set(spec, usual);
      if (usual.failed || !usual.reached.includes(id)) continue;
      const { failed } = await runner.run(spec, id, 10_000 + 6 * usual.ms);
      if (failed) return null;
      ran.push(spec);
    }
    return ran.length === 0 ? 'is reached by no spec' : `is not noticed by ${ran.join(', ')}`;
  };
  await Promise.all(processes.map(work));
  return survivors;
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 160 ? `${line.slice(0, 160)}…` : line;
}

process.exitCode = await main().catch((error: NodeJS.ErrnoException) => {
  if (!error.code?.startsWith('ERR_PARSE_ARGS')) throw error;
  console.error(error.message);
  return 2;
});
