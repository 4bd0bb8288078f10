import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import type { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject';
import type { ExternalSecret } from '@kubernetes-models/external-secrets/external-secrets.io/v1/ExternalSecret';
import type { PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule';
import type { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor';
import type { Deployment } from 'kubernetes-types/apps/v1.js';
import type { HorizontalPodAutoscaler } from 'kubernetes-types/autoscaling/v2.js';
import type { Job } from 'kubernetes-types/batch/v1.js';
import type {
  ConfigMap,
  PodTemplateSpec,
  Secret,
  Service,
  ServiceAccount,
} from 'kubernetes-types/core/v1.js';
import type { Ingress, NetworkPolicy } from 'kubernetes-types/networking/v1.js';
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.js';
import { oncePerRun, runFolder, specFolder } from '../../support/run-folder.js';
import { leaveOut, systemProgram } from '../../support/programs/system-program.js';

export const CHART = 'deploy/helm/disburse';
/** Debian installs its Go packages golang-github-masterminds-sprig-dev and golang-k8s-sigs-yaml-dev here. */
const GOPATH = '/usr/share/gocode';
const LIBRARIES = ['github.com/Masterminds/sprig', 'sigs.k8s.io/yaml'];

/** The kinds of the chart's objects that rules read. */
interface Kinds {
  Deployment: Deployment;
  Job: Job;
  HorizontalPodAutoscaler: HorizontalPodAutoscaler;
  ConfigMap: ConfigMap;
  Secret: Secret;
  Service: Service;
  ServiceAccount: ServiceAccount;
  Ingress: Ingress;
  NetworkPolicy: NetworkPolicy;
  PodDisruptionBudget: PodDisruptionBudget;
  ScaledObject: ScaledObject;
  ExternalSecret: ExternalSecret;
  ServiceMonitor: ServiceMonitor;
  PrometheusRule: PrometheusRule;
}

export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly namespace?: string;
  };
}

export type Values = { readonly [name: string]: unknown };

export interface Case {
  readonly name: string;
  readonly namespace: string;
  readonly service: string;
  readonly files: readonly string[];
  readonly values: Values;
}

/** The output of `helm template`, or its refusal. */
export class Rendering {
  constructor(
    readonly given: Case,
    readonly values: Values,
    readonly texts: Readonly<Record<string, string>>,
    readonly objects: readonly KubernetesObject[],
    /** The error of a refusal, or null. The schema is checked first, as in Helm. */
    readonly refusal: string | null,
  ) {}

  all<K extends keyof Kinds>(kind: K): readonly (Kinds[K] & KubernetesObject)[] {
    return this.objects.filter((each) => each.kind === kind) as (Kinds[K] & KubernetesObject)[];
  }

  pods(): readonly Pod[] {
    return [...this.all('Deployment'), ...this.all('Job')].map((owner) => {
      const { metadata, spec } = owner.spec!.template as Required<PodTemplateSpec>;
      return { owner, labels: metadata.labels ?? {}, annotations: metadata.annotations ?? {}, spec };
    });
  }
}

export interface Pod {
  readonly owner: KubernetesObject;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: NonNullable<PodTemplateSpec['spec']>;
}

interface Response {
  readonly values?: Values;
  readonly texts?: Readonly<Record<string, string>>;
  readonly objects?: readonly KubernetesObject[];
  readonly error?: string;
}

/** Built once per run, because modules of suites outlive their folders. */
const program = await oncePerRun('helm-renderer', async () => buildRenderer());

/** Renders charts like Helm. Null without Go and its libraries, where suites skip their cases. */
export const render = program === null ? null : renderWith(program);

export type Render = (cases: readonly Case[], chart?: string) => readonly Rendering[];

/** Parses YAML like Kubernetes. Works only with `render`. */
export const objectsOf = (yaml: string): readonly KubernetesObject[] =>
  JSON.parse(run(program!, { yaml })) as KubernetesObject[];

function buildRenderer(): string | null {
  const go = systemProgram('go');
  if (go === null || !LIBRARIES.every((each) => existsSync(join(GOPATH, 'src', each)))) {
    leaveOut('Go with sprig and yaml');
    return null;
  }
  const built = join(runFolder(), 'helm-render');
  execFileSync(go, ['build', '-o', built, 'test/deploy/helm/render.go'], {
    env: { ...process.env, GO111MODULE: 'off', GOPATH, GOFLAGS: '-p=1' },
  });
  return built;
}

const run = (renderer: string, input: object): string =>
  execFileSync(renderer, { input: JSON.stringify(input), encoding: 'utf8', maxBuffer: 1 << 28 });

function renderWith(renderer: string): Render {
  return (cases, chart = CHART) => {
    const refused = schemaOf(chart);
    return (JSON.parse(run(renderer, { chart, cases })) as Response[]).map(
      ({ values = {}, texts = {}, objects = [], error = null }, index) =>
        new Rendering(cases[index]!, values, texts, objects, refused(values) ?? error),
    );
  };
}

function schemaOf(chart: string): (values: Values) => string | null {
  const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')) as Values;
  const ajv = new Ajv({ allErrors: true, strictTypes: false });
  const validate = ajv.compile(schema);
  return (values) => (validate(values) ? null : ajv.errorsText(validate.errors, { dataVar: 'values' }));
}

/** Copies the chart with a replaced text in one file. Throws if the text is missing. */
export function mutatedChart(file: string, from: string, to: string): string {
  const folder = join(specFolder('mutated'), 'disburse');
  cpSync(CHART, folder, { recursive: true, dereference: true });
  const path = join(folder, file);
  const text = readFileSync(path, 'utf8');
  if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
  writeFileSync(path, text.replaceAll(from, to));
  return folder;
}
