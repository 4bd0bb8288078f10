export const FREE_PORTS = {
  ...{ PORT: '0', WIDGET_PORT: '0', PAY_PORT: '0' },
  ...{ ADMIN_PORT: '0', PORTAL_PORT: '0', METRICS_PORT: '0' },
};
