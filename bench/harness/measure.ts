/** Units of work of one variant in one round, and their duration in seconds. */
export interface Sample {
  readonly units: number;
  readonly seconds: number;
}

/** One way of doing the work of a row. `round` is -1 for the warm-up, which is not counted. */
export interface Variant {
  readonly name: string;
  run(round: number): Promise<Sample>;
}

export type Samples = ReadonlyMap<string, readonly Sample[]>;

const WARM_UP = -1;

/**
 * Alternates the variants in a changing order (A B, B A, ...), so that a temporary slowdown of the machine affects all
 * of them. Quick variants run several times per round (`slices`); the sum is the sample. The warm-up runs each once.
 */
export async function alternate(
  variants: readonly Variant[],
  rounds: number,
  progress: (text: string) => void = () => undefined,
  slices = 1,
): Promise<Samples> {
  const samples = new Map<string, Sample[]>(variants.map((variant) => [variant.name, []]));
  for (const variant of variants) {
    progress(`warm-up: ${variant.name}`);
    await variant.run(WARM_UP);
  }
  for (let round = 0; round < rounds; round += 1) {
    const sums = new Map<string, Sample>();
    for (let slice = 0; slice < slices; slice += 1) {
      const order = orderOf(variants, round * slices + slice);
      for (const variant of order) {
        progress(`round ${round + 1} of ${rounds}: ${variant.name}`);
        const { units, seconds } = await variant.run(round);
        const sum = sums.get(variant.name) ?? { units: 0, seconds: 0 };
        sums.set(variant.name, { units: sum.units + units, seconds: sum.seconds + seconds });
      }
    }
    for (const [name, sum] of sums) samples.get(name)!.push(sum);
  }
  return samples;
}

/** The first variant changes each time, and every second order is reversed. */
function orderOf(variants: readonly Variant[], number: number): readonly Variant[] {
  const first = number % variants.length;
  const order = [...variants.slice(first), ...variants.slice(0, first)];
  return variants.length > 2 && number % 2 === 1 ? order.reverse() : order;
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}
