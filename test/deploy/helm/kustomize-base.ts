import { format } from 'prettier';
import type { Render } from './chart.js';
import { sizeFile } from './sets.js';

export const BASE = 'deploy/kustomize/base';

/** Lines for Helm alone. Kustomize adds a hash to the name of the ConfigMap instead. */
const OF_HELM =
  /^ +helm\.sh\/chart: .*\n|^ +annotations:\n +# Variables are read .*\n +checksum\/settings: .*\n|^ *\n/gm;

/** The files of the base by name: the rendered chart without the ConfigMap, which Kustomize generates. */
export async function kustomizeBase(render: Render): Promise<Readonly<Record<string, string>>> {
  const files = [sizeFile('three-nodes'), 'deploy/kustomize/values.yaml'];
  const release = { name: 'disburse', namespace: 'disburse', service: 'Kustomize', files, values: {} };
  const [{ texts, refusal, ...rendering }] = render([release]) as [ReturnType<Render>[number]];
  if (refusal !== null) throw new Error(refusal);
  const [config] = rendering.objects.filter(({ kind }) => kind === 'ConfigMap') as unknown as [
    { data: Readonly<Record<string, string>> },
  ];
  const chosen = Object.entries(texts)
    .map(([name, text]) => [name, text.replace(OF_HELM, '').replace(/^---\n/, '')] as const)
    .filter(([name, text]) => text !== '' && !['NOTES.txt', 'configmap.yaml'].includes(name));
  const kustomization = [
    'apiVersion: kustomize.config.k8s.io/v1beta1',
    'kind: Kustomization',
    'resources:',
    ...chosen.map(([name]) => `- ${name}`).sort(),
    'configMapGenerator:',
    '- name: disburse',
    '  envs: [settings.env]',
  ].join('\n');
  const all = [...chosen, ['kustomization.yaml', kustomization] as const];
  const formatted = all.map(async ([name, text]) => {
    const head = '# From the chart: test/deploy/kustomize.extended.spec.ts writes this file.\n';
    return [name, await format(head + text, { parser: 'yaml', singleQuote: true, printWidth: 110 })] as const;
  });
  const settings = Object.entries(config.data).map(([name, value]) => `${name}=${value}\n`);
  return { ...Object.fromEntries(await Promise.all(formatted)), 'settings.env': settings.join('') };
}
