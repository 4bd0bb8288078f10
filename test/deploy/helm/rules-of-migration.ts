import { programNames } from '../../../src/cli.js';
import { nameOf, ownerOf, ruleOf, those, type Rule } from './rule.js';

export const MIGRATION_RULES: readonly Rule[] = [
  {
    sentence: 'the migration depends on nothing of the release, and nothing depends on it',
    violations: (rendering) => [
      ...those(
        rendering.objects,
        ({ metadata }) =>
          !Object.keys(metadata.annotations ?? {}).some((name) => name.startsWith('helm.sh/hook')),
        ({ kind }) => `${kind} is a hook`,
      ),
      ...those(rendering.pods(), ({ spec }) => spec.initContainers === undefined, ownerOf),
    ],
  },
  ruleOf(
    (rendering) => rendering.all('Job'),
    'the migration is a program of the service and fails if its settings are refused',
    ({ spec }) => {
      const { restartPolicy, containers } = spec!.template.spec!;
      const [node, cli, program] = containers[0]!.command!;
      const [rule] = spec!.podFailurePolicy!.rules;
      return (
        `${node} ${cli}` === 'node dist/cli.js' &&
        programNames().includes(program!) &&
        restartPolicy === 'Never' &&
        spec!.backoffLimit! > 5 &&
        rule?.action === 'FailJob' &&
        rule.onExitCodes?.containerName === containers[0]!.name &&
        rule.onExitCodes?.values.join() === '78'
      );
    },
    nameOf,
  ),
];
