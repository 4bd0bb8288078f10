import type { Pod } from './chart.js';

export const SECRET = {
  DATABASE_URL: 'postgres://disburse@db/disburse',
  MASTER_KEY: '11'.repeat(32),
  CHAIN_RPC_URL: 'https://polygon.example.com/key',
};
export const PORTS: Readonly<Record<string, readonly (readonly [name: string, port: number])[]>> = {
  api: [['api', 3000]],
  worker: [],
  widget: [
    ['pay', 3002],
    ['widget', 3001],
  ],
  admin: [['admin', 3003]],
  portal: [['portal', 3004]],
};
export const PORT_SETTINGS: Readonly<Record<string, string>> = {
  api: 'PORT',
  widget: 'WIDGET_PORT',
  pay: 'PAY_PORT',
  admin: 'ADMIN_PORT',
  portal: 'PORTAL_PORT',
  metrics: 'METRICS_PORT',
};

export const container = ({ spec }: Pod) => spec.containers[0]!;
export const env = (pod: Pod): Readonly<Record<string, string>> =>
  Object.fromEntries((container(pod).env ?? []).map(({ name, value }) => [name, value ?? '']));
export const isProcess = ({ owner }: Pod): boolean => owner.kind === 'Deployment';
export const rolesOf = (pod: Pod): readonly string[] => (env(pod)['ROLES'] ?? '').split(',').filter(Boolean);
