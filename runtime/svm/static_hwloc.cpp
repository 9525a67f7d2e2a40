// What hwloc wants of udev when a program is linked statically, where Debian has no libudev.a: there is no udev. hwloc
// then reads what it wants to know itself. With shared libraries nothing takes this file.
extern "C" {

void* udev_new() {
  return nullptr;
}
void* udev_unref(void*) {
  return nullptr;
}
void* udev_device_new_from_subsystem_sysname(void*, const char*, const char*) {
  return nullptr;
}
const char* udev_device_get_property_value(void*, const char*) {
  return nullptr;
}
void* udev_device_unref(void*) {
  return nullptr;
}

} // extern "C"
