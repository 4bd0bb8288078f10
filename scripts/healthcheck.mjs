// The health check of the image: every listener that a process with these ROLES has says that it lives.
const roles = (process.env.ROLES || 'api,worker,widget,admin,portal').split(',').map((each) => each.trim());
const ports = [
  ...(roles.includes('api') ? [process.env.PORT || 3000] : []),
  ...(roles.includes('widget') ? [process.env.WIDGET_PORT || 3001, process.env.PAY_PORT || 3002] : []),
  ...(roles.includes('admin') ? [process.env.ADMIN_PORT || 3003] : []),
  ...(roles.includes('portal') ? [process.env.PORTAL_PORT || 3004] : []),
  process.env.METRICS_PORT || 9464,
];
const TIMEOUT_MS = 4000;

const responses = await Promise.all(
  ports.map((port) =>
    fetch(`http://127.0.0.1:${port}/health/live`, { signal: AbortSignal.timeout(TIMEOUT_MS) }).then(
      ({ ok, status }) => ({ port, ok, said: status }),
      (error) => ({ port, ok: false, said: error.cause?.code ?? error.name }),
    ),
  ),
);
const failed = responses.filter(({ ok }) => !ok);
for (const { port, said } of failed) console.error(`port ${port}: ${said}`);
process.exit(failed.length === 0 ? 0 : 1);
