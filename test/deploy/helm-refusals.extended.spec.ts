import { describe, expect, it } from '@jest/globals';
import { render, type Rendering, type Values } from './helm/chart.js';
import { caseOf } from './helm/sets.js';

const describeRendered = render === null ? describe.skip : describe;

const one = (values: Values): Rendering => render!([caseOf(values)])[0]!;

const INGRESS = { enabled: true, hosts: { api: 'api.example.com' } };
const TRUSTED = { 'settings.TRUST_PROXY': '10.0.0.0/8' };
const EXTERNAL = 'secret.external';
const API_HPA = 'processes.api.autoscaling';
const WORKER_KEDA = 'processes.worker.keda';
const STORE = { enabled: true, store: { name: 'vault' }, extract: 'disburse' };
const KEDA = { serverAddress: 'http://prometheus:9090', minReplicas: 1, maxReplicas: 2 };
const HPA = { minReplicas: 1, maxReplicas: 2 };

describeRendered('the chart', () => {
  it.each<[string, Values, RegExp]>([
    ['a misspelt name', { proceses: {} }, /values must NOT have additional properties/],
    ['a misspelt setting', { 'settings.RATE_LIMIT': 3 }, /values\/settings must NOT have additional/],
    [
      'a list as a setting',
      { 'settings.TRUST_PROXY': ['10.0.0.0/8'] },
      /TRUST_PROXY must be string,integer,bool/,
    ],
    ['no token address', { 'settings.USDC_ADDRESS': null }, /must have required property 'USDC_ADDRESS'/],
    ['a token that is no address', { 'settings.USDC_ADDRESS': '0x3c49' }, /USDC_ADDRESS must match pattern/],
    ['an unknown role', { 'processes.api.roles': ['apis'] }, /roles\/0 must be equal to one of the allowed/],
    ['a process without roles', { 'processes.more.replicas': 1 }, /more must have required property 'roles'/],
    ['a process called migration', { 'processes.migration.roles': ['api'] }, /property name must be valid/],
    ['KEDA scaling workers to 0', { [WORKER_KEDA]: { ...KEDA, minReplicas: 0 } }, /minReplicas must be >= 1/],
    ['an invalid digest', { 'image.digest': 'sha256:abc' }, /digest must match pattern/],
    [
      'a peer without a selector',
      { 'networkPolicy.monitoring': [{}] },
      /monitoring\/0 must NOT have fewer than 1/,
    ],
    ['no name of a Secret', { 'secret.name': '' }, /secret\.name must name a Secret with DATABASE_URL/],
    [
      'no public address',
      { 'settings.PUBLIC_URL': null },
      /settings\.PUBLIC_URL must be set, or ingress\.hosts\.api/,
    ],
    ['an Ingress without trusted proxies', { ingress: INGRESS }, /settings\.TRUST_PROXY must name/],
    [
      'an Ingress of operators without trusted proxies',
      { adminIngress: { enabled: true, host: 'a' }, 'networkPolicy.enabled': false },
      /TRUST_PROXY must name/,
    ],
    [
      'an Ingress that no network policy allows',
      { ...TRUSTED, ingress: INGRESS, 'networkPolicy.ingressController': [] },
      /networkPolicy\.ingressController must name who serves/,
    ],
    [
      'an Ingress of operators that no network policy allows',
      { ...TRUSTED, adminIngress: { enabled: true, host: 'admin.example.com' } },
      /networkPolicy\.operators must name who serves/,
    ],
    [
      'an Ingress of operators without a host',
      { ...TRUSTED, 'networkPolicy.enabled': false, 'adminIngress.enabled': true },
      /adminIngress\.host must be set/,
    ],
    [
      'a host of a role that no process has',
      { ...TRUSTED, ingress: { enabled: true, hosts: { portal: 'p.example' } }, 'processes.portal': null },
      /no process has the role portal, to which the host p\.example leads/,
    ],
    [
      'two autoscalers of one process',
      { [API_HPA]: HPA, 'processes.api.keda': KEDA },
      /processes\.api has autoscaling and keda/,
    ],
    [
      'an autoscaler by CPU without a CPU request',
      { [API_HPA]: HPA, 'processes.api.resources': null },
      /processes\.api\.resources\.requests\.cpu must be set/,
    ],
    ['a nameless secret store', { [EXTERNAL]: { ...STORE, store: {} } }, /external\.store\.name must be set/],
    [
      'an external secret without a source',
      { [EXTERNAL]: { ...STORE, extract: '' } },
      /needs extract or variables, one of both/,
    ],
    [
      'an external secret with two sources',
      { [EXTERNAL]: { ...STORE, variables: { MASTER_KEY: { key: 'k' } } } },
      /needs extract or variables, one of both/,
    ],
  ])('refuses values with %s', (_, values, sentence) => expect(one(values).refusal).toMatch(sentence));

  it('the chart accepts valid values', () => expect(one({}).refusal).toBeNull());
});
