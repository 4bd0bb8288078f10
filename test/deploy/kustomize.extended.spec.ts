import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import type { Deployment } from 'kubernetes-types/apps/v1.js';
import { systemProgram } from '../support/programs/system-program.js';
import { objectsOf, render, type KubernetesObject } from './helm/chart.js';
import { BASE, kustomizeBase } from './helm/kustomize-base.js';
import { schemaErrors } from './helm/schemas.js';

const itRendered = render === null ? it.skip : it;

const kubectl = newKubectl();

/** Returns null on Debian 12 too, whose Kustomize is too old for the files. */
function newKubectl(): string | null {
  const found = systemProgram('kubectl');
  const version = found === null ? '' : execFileSync(found, ['version', '--client'], { encoding: 'utf8' });
  return /^Kustomize Version: v[4-9]/m.test(version) ? found : null;
}

const built = (folder: string): readonly KubernetesObject[] => {
  const yaml = execFileSync(kubectl!, ['kustomize', folder], { encoding: 'utf8' });
  return objectsOf(yaml);
};

itRendered('the base of Kustomize equals the rendered chart, and is rewritten if it differs', async () => {
  const files = await kustomizeBase(render!);
  const found = Object.fromEntries(
    readdirSync(BASE).map((name) => [name, readFileSync(join(BASE, name), 'utf8')]),
  );
  for (const [name, text] of Object.entries(files))
    if (found[name] !== text) writeFileSync(join(BASE, name), text);
  expect(found).toEqual(files);
});

(kubectl === null ? it.skip : itRendered)('Kustomize builds the base and the example', () => {
  for (const folder of [BASE, 'deploy/kustomize/example']) {
    const objects = built(folder);
    expect([...schemaErrors(objects).values()]).toEqual([]);
    const [config] = objects.filter(({ kind }) => kind === 'ConfigMap');
    expect(config!.metadata.name).toMatch(/^disburse-[a-z0-9]{10}$/);
    const deployments = objects.filter(({ kind }) => kind === 'Deployment') as (KubernetesObject &
      Deployment)[];
    expect(deployments).toHaveLength(5);
    for (const { spec } of deployments) {
      const { envFrom, image } = spec!.template.spec!.containers[0]!;
      expect(envFrom![0]).toEqual({ configMapRef: { name: config!.metadata.name } });
      expect(image).toBe(folder === BASE ? 'disburse:0.1.0' : 'registry.example.com/disburse:0.1.0');
    }
  }
  const example = built('deploy/kustomize/example');
  expect(new Set(example.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['payments']));
  const config = example.find(({ kind }) => kind === 'ConfigMap') as unknown as {
    data: Record<string, string>;
  };
  expect(config.data).toMatchObject({ PUBLIC_URL: 'https://api.merchants.example.com', HOST: '0.0.0.0' });
});
