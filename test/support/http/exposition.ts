/** One sample of a scrape; `metric` is the name without the suffixes of histograms and summaries. */
interface Sample {
  readonly name: string;
  readonly metric: string;
  readonly labels: readonly string[];
  readonly pairs: string;
  readonly value: number;
}

export interface Exposed {
  readonly metrics: readonly { readonly name: string; readonly type: string; readonly help: string }[];
  readonly samples: readonly Sample[];
}

/** What GET /metrics returned, in Prometheus' text form. */
export function exposedBy(text: string): Exposed {
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!]));
  const metrics = [...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name, help]) => ({
    name: name!,
    type: types.get(name!) ?? '',
    help: help!,
  }));
  const samples = [...text.matchAll(/^([a-z_]+)(?:\{(.*)\})? (\S+)$/gim)].map(
    ([, name, pairs = '', value]) => ({
      name: name!,
      metric: types.has(name!) ? name! : name!.replace(/_(bucket|count|sum)$/, ''),
      labels: [...pairs.matchAll(/(\w+)="/g)].map(([, label]) => label!),
      pairs,
      value: Number(value),
    }),
  );
  return { metrics, samples };
}

/** The sum of the samples with these labels; 0 where there is none. */
export function valueOf(
  { samples }: Exposed,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  return samples
    .filter((each) => each.name === name)
    .filter(({ pairs }) =>
      Object.entries(labels).every(([label, value]) => pairs.includes(`${label}="${value}"`)),
    )
    .reduce((sum, { value }) => sum + value, 0);
}
