import { join, resolve } from 'node:path';
import ts from 'typescript';
import type { KubernetesObject } from './chart.js';

const CORE = 'kubernetes-types';
const MODELS = '@kubernetes-models';

/** Types generated from the OpenAPI document of Kubernetes and the definitions of custom resources. */
const TYPES: Readonly<Record<string, readonly [module: string, type: string]>> = {
  'apps/v1 Deployment': [`${CORE}/apps/v1.js`, 'Deployment'],
  'autoscaling/v2 HorizontalPodAutoscaler': [`${CORE}/autoscaling/v2.js`, 'HorizontalPodAutoscaler'],
  'batch/v1 Job': [`${CORE}/batch/v1.js`, 'Job'],
  'networking.k8s.io/v1 Ingress': [`${CORE}/networking/v1.js`, 'Ingress'],
  'networking.k8s.io/v1 NetworkPolicy': [`${CORE}/networking/v1.js`, 'NetworkPolicy'],
  'policy/v1 PodDisruptionBudget': [`${CORE}/policy/v1.js`, 'PodDisruptionBudget'],
  'v1 ConfigMap': [`${CORE}/core/v1.js`, 'ConfigMap'],
  'v1 Service': [`${CORE}/core/v1.js`, 'Service'],
  'v1 ServiceAccount': [`${CORE}/core/v1.js`, 'ServiceAccount'],
  'keda.sh/v1alpha1 ScaledObject': [`${MODELS}/keda/keda.sh/v1alpha1/ScaledObject`, 'IScaledObject'],
  'external-secrets.io/v1 ExternalSecret': [
    `${MODELS}/external-secrets/external-secrets.io/v1/ExternalSecret`,
    'IExternalSecret',
  ],
  'monitoring.coreos.com/v1 ServiceMonitor': [
    `${MODELS}/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor`,
    'IServiceMonitor',
  ],
  'monitoring.coreos.com/v1 PrometheusRule': [
    `${MODELS}/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule`,
    'IPrometheusRule',
  ],
};

const OPTIONS: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2023,
  types: [],
};

/** Validates objects by the types of Kubernetes. As literals they may have no unknown member. */
export function schemaErrors(objects: readonly KubernetesObject[]): ReadonlyMap<KubernetesObject, string> {
  const errors = new Map<KubernetesObject, string>();
  const lines = objects.map((object, index) => {
    const found = TYPES[`${object.apiVersion} ${object.kind}`];
    if (found === undefined) {
      errors.set(object, `${object.apiVersion} ${object.kind} is no kind that the chart may have`);
      return '';
    }
    const [module, type] = found;
    return `export const o${index}: import('${module}').${type} = ${JSON.stringify(object)};`;
  });
  // Modules resolve from this folder.
  const file = resolve(join('test', 'deploy', 'helm', 'rendered.ts'));
  const host = ts.createCompilerHost(OPTIONS);
  const { getSourceFile, fileExists } = host;
  const source = ts.createSourceFile(file, lines.join('\n'), ts.ScriptTarget.ES2023);
  host.getSourceFile = (name, ...rest) => (name === file ? source : getSourceFile.call(host, name, ...rest));
  host.fileExists = (name) => name === file || fileExists.call(host, name);
  const program = ts.createProgram([file], OPTIONS, host);
  const diagnostics = [...program.getOptionsDiagnostics(), ...ts.getPreEmitDiagnostics(program)];
  for (const { start, messageText } of diagnostics) {
    const object = objects[start === undefined ? 0 : source.getLineAndCharacterOfPosition(start).line]!;
    const text = ts.flattenDiagnosticMessageText(messageText, ' ');
    errors.set(object, `${object.kind} ${object.metadata.name}: ${text}`);
  }
  return errors;
}
