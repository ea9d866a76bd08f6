using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(
    name = "site",
    worker = (modules = [(name = "site", esModule = embed "bundle.js")], compatibilityDate = "2026-01-01"),
  )],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "site")],
);
