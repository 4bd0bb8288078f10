import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { CONFIG_PARTS } from '../../src/composition.js';
import { CHART, mutatedChart, render, type Rendering, type Values } from './helm/chart.js';
import { container, rolesOf } from './helm/pods.js';
import { caseOf, LEAST, merged, SETS, sizeFile, SIZES } from './helm/sets.js';

const describeRendered = render === null ? describe.skip : describe;

const one = (values: Values, also?: Parameters<typeof caseOf>[1]): Rendering =>
  render!([caseOf(values, also)])[0]!;
const set = (name: string): Rendering => render!([SETS[name]!])[0]!;
const image = (rendering: Rendering, process: string): string =>
  container(rendering.pods().find(({ labels }) => labels['app.kubernetes.io/component'] === process)!).image!;
const settings = (rendering: Rendering): Readonly<Record<string, string>> =>
  rendering.all('ConfigMap')[0]!.data!;
const job = (rendering: Rendering): string => rendering.all('Job')[0]!.metadata.name;
const ids = (rendering: Rendering): readonly string[] =>
  rendering.objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);

interface Scaler {
  readonly minReplicas: number;
  readonly maxReplicas: number;
}

const TRUSTED = { settings: { TRUST_PROXY: '10.0.0.0/8' } };

describeRendered('the image versions of the chart', () => {
  it('an image digest is preferred to a tag, and the default tag is the appVersion of the chart', () => {
    expect(image(set('a digest'), 'api')).toMatch(/^disburse@sha256:/);
    expect(image(set('a tag'), 'api')).toBe('registry.example.com/disburse:1.4.2');
    expect(image(set('the least'), 'migration')).toBe('disburse:0.1.0');
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(readFileSync(`${CHART}/Chart.yaml`, 'utf8')).toContain(`\nappVersion: ${version}\n`);
  });

  it.each(['a newer worker', 'a newer worker by its digest', 'a newer worker by its tag, of a digest'])(
    'one process alone can have another image version: %s',
    (name) => {
      const rendering = set(name);
      const [worker, ...others] = ['worker', 'api', 'widget', 'migration'].map((each) =>
        image(rendering, each),
      );
      expect(worker).toMatch(/1\.5\.0$|@sha256/);
      expect(new Set(others).size).toBe(1);
      expect(others).not.toContain(worker);
    },
  );

  it('the migration Job gets a new name exactly if its pod changes', () => {
    const least = set('the least');
    const podsOf = (rendering: Rendering): string => JSON.stringify(rendering.all('Job')[0]!.spec);
    for (const values of [
      { image: { tag: '2' } },
      { image: { repository: 'other' } },
      { migration: { resources: { limits: { memory: '1Gi' } } } },
      { pod: { priorityClassName: 'high' } },
      { secret: { name: 'other' } },
    ]) {
      expect(job(one(values))).not.toBe(job(least));
      expect(podsOf(one(values))).not.toBe(podsOf(least));
    }
    for (const values of [{ settings: { LOG_LEVEL: 'debug' } }, { processes: { api: { replicas: 5 } } }]) {
      expect(job(one(values))).toBe(job(least));
      expect(podsOf(one(values))).toBe(podsOf(least));
    }
  });

  it('no pod changes if only the chart version differs', () => {
    const newer = mutatedChart('Chart.yaml', '\nversion: 0.1.0', '\nversion: 0.2.0');
    const pods = (rendering: Rendering): string =>
      JSON.stringify(rendering.pods().map(({ labels, spec }) => [labels, spec]));
    const [rendering] = render!([caseOf({})], newer);
    expect(pods(rendering!)).toBe(pods(set('the least')));
    expect(rendering!.objects[0]!.metadata.labels!['helm.sh/chart']).toBe('disburse-0.2.0');
  });
});

describeRendered('the settings of the chart', () => {
  it('a changed setting replaces the pods of every process', () => {
    const sums = (rendering: Rendering): readonly (string | undefined)[] =>
      rendering.pods().map(({ annotations }) => annotations['checksum/settings']);
    const [before, after] = [sums(set('the least')), sums(set('other settings'))];
    expect(before.filter((sum, index) => sum !== undefined && sum === after[index])).toEqual([]);
    expect(sums(one({}))).toEqual(before);
  });

  it('every setting is in the schema, except secrets and settings that the chart sets', () => {
    const { properties } = (
      JSON.parse(readFileSync(`${CHART}/values.schema.json`, 'utf8')) as {
        properties: { settings: { properties: Record<string, unknown> } };
      }
    ).properties.settings;
    const all = CONFIG_PARTS.flatMap(({ settings }) => Object.values(settings));
    const decided = new Set(
      all.map(({ name }) => name).filter((name) => /^(MODE|ROLES|DATA_DIR|(\w+_)?PORT)$/.test(name)),
    );
    expect(decided.size).toBe(9);
    const open = all.filter(({ name, secret }) => !secret && !decided.has(name));
    // Node.js reads the other two.
    const known = [...open.map(({ name }) => name), 'NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS'];
    expect(Object.keys(properties).sort()).toEqual(known.sort());
  });

  it('settings retain large numbers and texts that YAML could read as another type', () => {
    expect(settings(set('large numbers'))).toMatchObject({
      RATE_LIMIT_PER_IP_PER_MINUTE: '10000000',
      MAX_CONNECTIONS: '100000',
      REQUIRE_HTTPS: 'true',
    });
    expect(settings(set('texts that YAML reads otherwise'))).toMatchObject({
      ADMIN_OIDC_CLAIM: 'groups=on: yes # no',
      LOG_FILE: '0123',
      TWILIO_FROM: '+15550001',
      STRIPE_ISSUING_BILLING_ADDRESS:
        '{"line1":"1 \\"Main\\" St","city":"X: {{ .Y }}","postal_code":"1","country":"US"}',
    });
  });

  it('public addresses are derived from the hosts of the Ingresses unless the addresses are set', () => {
    const hosts = {
      api: 'api.example.com',
      widget: 'w.example.com',
      pay: 'p.example.com',
      portal: 'm.example.com',
    };
    const values = merged(TRUSTED, { ingress: { enabled: true, hosts }, settings: { PUBLIC_URL: null } });
    expect(settings(one(values))).toMatchObject({
      PUBLIC_URL: 'https://api.example.com',
      WIDGET_URL: 'https://w.example.com',
      PAY_URL: 'https://p.example.com',
      PORTAL_URL: 'https://m.example.com',
    });
    expect(settings(one(merged(values, { settings: { PAY_URL: 'https://pay.other' } })))['PAY_URL']).toBe(
      'https://pay.other',
    );
    expect(settings(set('an Ingress of operators'))['ADMIN_URL']).toBe('https://admin.example.com');
  });
});

describeRendered('two releases in one namespace', () => {
  it.each([
    ['the least', 'a second release'],
    ['a long name', 'another long name'],
    ['the least', 'a release called like the chart'],
  ])('no object name and no selector is in both releases: %s and %s', (first, second) => {
    const [one, other] = [set(first), set(second)];
    expect(ids(one).filter((id) => ids(other).includes(id))).toEqual([]);
    const selectors = (rendering: Rendering): string[] =>
      rendering.all('Deployment').map(({ spec }) => JSON.stringify(spec!.selector));
    expect(selectors(one).filter((each) => selectors(other).includes(each))).toEqual([]);
  });
});

describeRendered('the secrets of the chart', () => {
  it('secrets can come from a secret store, in one entry or in one entry per variable', () => {
    const [whole, parts, named] = [
      'a secret of a store',
      'variables of a store',
      'a secret of a store under a name',
    ].map((name) => set(name).all('ExternalSecret')[0]!.spec!);
    expect(whole).toMatchObject({
      secretStoreRef: { name: 'vault', kind: 'ClusterSecretStore' },
      target: { name: 'pay-disburse' },
      dataFrom: [{ extract: { key: 'disburse/production' } }],
    });
    expect(parts!.data).toContainEqual({
      secretKey: 'MASTER_KEY',
      remoteRef: { key: 'disburse/master', property: 'key' },
    });
    expect(parts!.dataFrom).toBeUndefined();
    expect(named!.target!.name).toBe('from-the-store');
  });
});

describeRendered('the alerts of the chart', () => {
  it('the alerts equal those of deploy/prometheus, with the templates of Prometheus unchanged', () => {
    const [rules] = render!([caseOf({}, { files: ['deploy/prometheus/rules.yaml'] })]);
    const { groups } = rules!.values as { groups: readonly unknown[] };
    expect(groups.length).toBeGreaterThan(3);
    const [rule] = set('monitored').all('PrometheusRule');
    expect(rule!.spec).toEqual({ groups });
    expect(JSON.stringify(rule)).toContain('{{ $labels.instance }}');
    expect(rule!.metadata.labels).toMatchObject({ release: 'prometheus' });
  });
});

describeRendered('the three sizes', () => {
  const amount = (text: unknown): number => {
    const [, number, unit = ''] = /^([\d.]+)(m|Mi|Gi|)$/.exec(String(text))!;
    return Number(number) * ({ m: 0.001, Mi: 1, Gi: 1024 }[unit] ?? 1);
  };
  const most = (rendering: Rendering, process: string, isMost: boolean): number => {
    const {
      replicas = 1,
      autoscaling,
      keda,
    } = (
      rendering.values as {
        processes: Record<string, { replicas?: number; autoscaling?: Scaler; keda?: Scaler }>;
      }
    ).processes[process]!;
    const scaler = autoscaling ?? keda;
    return scaler === undefined ? replicas : isMost ? scaler.maxReplicas : scaler.minReplicas;
  };
  const total = (
    rendering: Rendering,
    isMost: boolean,
  ): readonly [pods: number, cores: number, mebibytes: number] => {
    const rows = rendering.all('Deployment').map((each) => {
      const count = most(rendering, each.metadata.labels!['app.kubernetes.io/component']!, isMost);
      const requests = each.spec!.template.spec!.containers[0]!.resources!.requests!;
      return [count, count * amount(requests['cpu']), count * amount(requests['memory'])] as const;
    });
    const sum = (index: 0 | 1 | 2): number => rows.reduce((all, row) => all + row[index], 0);
    return [sum(0), Math.round(sum(1) * 100) / 100, sum(2)];
  };

  it.each(SIZES)(
    '%s requests the pods, cores and memory in docs/production.md, and every role has a process',
    (size) => {
      const rendering = one({}, { files: [sizeFile(size)] });
      expect(new Set(rendering.pods().flatMap(rolesOf)).size).toBe(5);
      const [pods, cores, mebibytes] = total(rendering, false);
      const [morePods, moreCores, moreMebibytes] = total(rendering, true);
      const to = (one: number, other: number): string => (one === other ? `${one}` : `${one} to ${other}`);
      const row = `| [${size}](../${sizeFile(size)}) | ${to(pods, morePods)} | ${to(cores, moreCores)} | ${to(mebibytes, moreMebibytes)} MiB |`;
      expect(readFileSync('docs/production.md', 'utf8')).toContain(row);
    },
  );

  it('NOTES.txt states the number of PostgreSQL connections that an upgrade needs', () => {
    const notes = one({}, { files: [sizeFile('region')] }).texts['NOTES.txt']!;
    expect(notes).toContain('up to 30 processes run: PostgreSQL needs 750 connections');
    expect(notes).toContain('exec deploy/pay-disburse-admin -- node scripts/cli.mjs operator login-link');
    expect(one({}).texts['NOTES.txt']).toContain('the Secret disburse-secrets is there');
  });
});

describeRendered('the renderer', () => {
  it('the renderer merges values as Helm does: maps deeply, lists as a whole, null removes', () => {
    const { values } = one({
      processes: { api: { roles: ['api', 'widget'], replicas: null }, portal: null },
    });
    const { processes } = values as { processes: Record<string, Values> };
    expect(processes['api']).toMatchObject({
      roles: ['api', 'widget'],
      resources: { limits: { memory: '768Mi' } },
    });
    expect(processes['api']).not.toHaveProperty('replicas');
    expect(Object.keys(processes).sort()).toEqual(['admin', 'api', 'widget', 'worker']);
    expect((values as { settings: Values }).settings).toMatchObject(LEAST['settings'] as Values);
  });
});
