export interface Sample {
  readonly units: number;
  readonly seconds: number;
}

/** One way to do the work of a row. `round` is 0 for the warm-up, which is not counted. */
export interface Variant {
  readonly name: string;
  run(round: number): Promise<Sample>;
}

export type Samples = ReadonlyMap<string, readonly Sample[]>;

/**
 * Alternates the variants in a changing order, so that a temporary slowdown of the machine affects all of
 * them. Quick variants run `slices` times per round, and their sum is the sample. The warm-up runs each once.
 */
export async function alternate(
  variants: readonly Variant[],
  rounds: number,
  progress: (text: string) => void = () => undefined,
  slices = 1,
): Promise<Samples> {
  const samples = new Map<string, Sample[]>(variants.map((variant) => [variant.name, []]));
  const run = (variant: Variant, round: number): Promise<Sample> => {
    const when = `${round === 0 ? 'warm-up' : `round ${round} of ${rounds}`}: ${variant.name}`;
    progress(when);
    return variant.run(round).catch((error: unknown) => {
      throw new Error(when, { cause: error });
    });
  };
  for (const variant of variants) await run(variant, 0);
  for (let round = 1; round <= rounds; round += 1) {
    const sums = new Map<string, Sample>();
    for (let slice = 0; slice < slices; slice += 1) {
      const order = orderOf(variants, round * slices + slice);
      for (const variant of order) {
        const { units, seconds } = await run(variant, round);
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
