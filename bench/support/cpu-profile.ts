import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The output of `node --cpu-prof`. Times are microseconds of the monotonic clock. */
interface Profile {
  readonly startTime: number;
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const IDLE = '(idle)';
/** Time of V8 that belongs to no caller. */
const OWN_TIME = ['(garbage collector)', '(program)'];

/** Microseconds of CPU time by part of the service, within a range of the monotonic clock in microseconds. */
export function timeByPart(
  folder: string,
  bundle: string,
  [from, to]: readonly [number, number],
): ReadonlyMap<string, number> {
  const [file, ...others] = readdirSync(folder);
  if (others.length > 0) throw new Error(`${folder} has the profiles of more than one process`);
  const profile = JSON.parse(readFileSync(join(folder, file!), 'utf8')) as Profile;
  const parts = partsOf(profile, modulesOf(bundle));
  const sums = new Map<string, number>();
  let at = profile.startTime;
  profile.samples.forEach((sample, place) => {
    const delta = profile.timeDeltas[place]!;
    at += delta;
    const part = parts.get(sample) ?? IDLE;
    if (at >= from && at <= to && part !== IDLE) sums.set(part, (sums.get(part) ?? 0) + delta);
  });
  return sums;
}

/** Attributes each node to the innermost part of the service on its stack, else package, else Node.js. */
function partsOf(
  { nodes }: Profile,
  moduleAt: (line: number) => string | undefined,
): ReadonlyMap<number, string> {
  const parts = new Map<number, string>();
  const known = new Map(nodes.map((node) => [node.id, node]));
  const visit = (id: number, ours: string | null, other: string | null): void => {
    const { callFrame, children = [] } = known.get(id)!;
    const module = callFrame.url.endsWith('.cjs') ? moduleAt(callFrame.lineNumber + 1) : undefined;
    const mine = module?.startsWith('dist/') ? folderOf(module) : ours;
    const theirs = module?.startsWith('node_modules/') ? packageOf(module) : other;
    const name = callFrame.functionName;
    parts.set(id, name === IDLE || OWN_TIME.includes(name) ? name : (mine ?? theirs ?? 'Node.js'));
    for (const child of children) visit(child, mine, theirs);
  };
  visit(nodes[0]!.id, null, null);
  return parts;
}

/** Finds the module of a line by the comments that esbuild writes above each module. */
function modulesOf(bundle: string): (line: number) => string | undefined {
  const modules: (string | undefined)[] = [];
  let module: string | undefined;
  for (const line of readFileSync(bundle, 'latin1').split('\n')) {
    module = /^\s*\/\/ ((?:dist|node_modules)\/\S+\.[cm]?js)$/.exec(line)?.[1] ?? module;
    modules.push(module);
  }
  return (line) => modules[line - 1];
}

/** Examples are `contexts/payouts/application` and `platform/http`. */
function folderOf(module: string): string {
  const [, , area, name, ring] = module.split('/');
  return [area, name, ...(area === 'contexts' ? [ring] : [])]
    .filter((each) => !each?.endsWith('.js'))
    .join('/');
}

function packageOf(module: string): string {
  const [first, second] = module.slice(module.lastIndexOf('node_modules/') + 13).split('/');
  return first!.startsWith('@') ? `${first}/${second}` : first!;
}
