import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { render, type Rendering } from './helm/chart.js';
import { MIGRATION_RULES } from './helm/rules-of-migration.js';
import { NETWORK_RULES } from './helm/rules-of-network.js';
import { POD_RULES } from './helm/rules-of-pods.js';
import { SCALING_RULES } from './helm/rules-of-scaling.js';
import { schemaErrors } from './helm/schemas.js';
import { SETS } from './helm/sets.js';
import type { Rule } from './helm/rule.js';

const describeRendered = render === null ? describe.skip : describe;

const RULES = [...POD_RULES, ...MIGRATION_RULES, ...SCALING_RULES, ...NETWORK_RULES];
const names = Object.keys(SETS);
const cases = Object.values(SETS);
const nameOf = ({ given }: Rendering): string => names[cases.indexOf(given)]!;
const all = render?.(cases) ?? [];
const objects = all.flatMap((each) => each.objects);
const errors = schemaErrors(objects);

/** Returns violations with their set of values. A rule that cannot be applied is broken. */
function violations(rule: Rule, renderings: readonly Rendering[]): readonly string[] {
  return renderings.flatMap((rendering) => {
    if (rendering.refusal !== null) return [];
    try {
      return rule.violations(rendering).map((each) => `${nameOf(rendering)}: ${each}`);
    } catch (error) {
      return [`${nameOf(rendering)}: ${(error as Error).message}`];
    }
  });
}

describeRendered('the chart', () => {
  it.each(names)('is rendered for %s and fits the schemas of Kubernetes', (name) => {
    const { refusal, objects } = all[names.indexOf(name)]!;
    expect(refusal).toBeNull();
    expect(objects.length).toBeGreaterThan(8);
    expect(objects.flatMap((each) => errors.get(each) ?? [])).toEqual([]);
  });

  it.each(RULES.map((rule) => [rule.sentence, rule] as const))('%s', (_, rule) =>
    expect(violations(rule, all)).toEqual([]),
  );
});
